import { randomBytes } from "node:crypto";
import { newId } from "../../emulator/deliveries/message";
import { JOB_EVENTS, readEvent } from "../../receiver/event";
import { parseJson } from "../../shared/json";
import { isCanonicalId, isCanonicalTimestamp } from "../../signature/headers";
import { signWithEach } from "../../signature/sign";
import { choose, readCaptures } from "../capture/capture";
import { deliveryHeaders } from "../capture/captureFile";
import { CliError } from "../errors";
import { readInput } from "../inputFile";
import type { NamedSecret } from "../secrets/secrets";

/** What to send, each time. */
export interface Message {
  readonly event: string;
  readonly id: string;
  /** As it was signed. */
  readonly body: Buffer;
  /** How old it is when it arrives, in seconds. */
  readonly age: number;
  /** Called for each attempt: a delivery that is signed here gets a new timestamp. */
  readonly headers: () => Readonly<Record<string, string | string[]>>;
}

interface SignedMessage extends Omit<Message, "headers"> {
  readonly secrets: readonly NamedSecret[];
}

/** Returns a message that is signed here: with each secret, as the service does while one is rotated. */
export function signedMessage({ event, id, body, age, secrets }: SignedMessage): Message {
  const values = secrets.map(({ value }) => value);
  const headers = () => {
    const timestamp = Math.floor(Date.now() / 1000) - age;
    const signed = signWithEach({ id, timestamp, body }, values);
    return { "content-type": "application/json", "user-agent": "pulumi-webhook-endpoints", ...signed };
  };
  return { event, id, body, age, headers };
}

/** Returns the body of a delivery. `data` is JSON, or `@` and the path of a file. @throws CliError `WRONG_USE` or `FILE_UNREADABLE` */
export async function bodyOf(event: string, data: string | undefined): Promise<string> {
  return `{"type":${JSON.stringify(event)},"data":${data === undefined ? defaultData(event) : await jsonOf(data)}}`;
}

function defaultData(event: string): string {
  if (!(JOB_EVENTS as readonly string[]).includes(event)) return "{}";
  const jobId = `job_${randomBytes(8).toString("hex")}`;
  return JSON.stringify({ jobId, status: event.slice("job.".length) });
}

/** Returns JSON as it was given, because parsing it would change large numbers. */
async function jsonOf(data: string): Promise<string> {
  const isFile = data.startsWith("@");
  const text = (isFile ? (await readInput(data.slice(1), "--data")).toString("utf8") : data).trim();
  if (parseJson(text) !== undefined) return text;
  const where = isFile ? "the file of --data" : "--data";
  throw new CliError("WRONG_USE", `${where} must hold JSON, such as {"jobId":"job_1","status":"succeeded"}`);
}

interface ReplayOptions {
  /** Which delivery, if the file has several. */
  readonly id: string | undefined;
  /** Says what the user should know about the choice. */
  readonly note: (text: string) => void;
  /** Signs it now, with these secrets. Undefined to send it byte for byte. */
  readonly signAnew:
    | { readonly secrets: readonly NamedSecret[]; readonly age: number; readonly isNewId: boolean }
    | undefined;
}

/** Returns a captured delivery as a message. @throws CliError `WRONG_USE` or `FILE_UNREADABLE` */
export async function replayedMessage(path: string, { id, note, signAnew }: ReplayOptions): Promise<Message> {
  const { headers, body } = choose(readCaptures(await readInput(path, "--capture"), note), id, note);
  if (body === undefined)
    throw new CliError(
      "WRONG_USE",
      "no body was found in the file of --capture. One of `listen --save` has headers and body",
    );
  const kept = deliveryHeaders(headers);
  const { "webhook-id": [captured = ""] = [], "webhook-timestamp": [timestamp = ""] = [] } = kept;
  const event = readEvent(body).event ?? "unknown event";
  if (signAnew === undefined) {
    if (captured === "")
      throw new CliError(
        "WRONG_USE",
        "the request in the file of --capture is no delivery, because it lacks the header webhook-id. Sign its body with --sign-anew",
      );
    const now = Math.floor(Date.now() / 1000);
    const age = isCanonicalTimestamp(timestamp) ? now - Number(timestamp) : 0;
    return { event, id: captured, body, age, headers: () => kept };
  }
  const keepsId = !signAnew.isNewId && isCanonicalId(captured);
  const message = signedMessage({ event, id: keepsId ? captured : newId(), body, ...signAnew });
  const { "content-type": type, "content-encoding": encoding } = kept;
  const described = {
    ...(type === undefined ? {} : { "content-type": type }),
    ...(encoding === undefined ? {} : { "content-encoding": encoding }),
  };
  return { ...message, headers: () => ({ ...message.headers(), ...described }) };
}
