import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Argument, Option } from "commander";
import { JOB_EVENTS, readEvent } from "../receiver/event";
import { parseJson } from "../shared/json";
import { postDelivery } from "../shared/post";
import { describeUrl } from "../shared/url";
import { sign } from "../signature/sign";
import { deliveryHeaders, readCapture } from "./capture";
import { CliError } from "./errors";
import { httpUrl, jsonOption, stackOption } from "./options";
import { PROGRAM, type Subcommand } from "./run";
import { readSecrets, type SigningSecrets } from "./secrets";

/** How much of an answer is shown, in characters. */
const LONGEST_ANSWER = 2_000;

interface Flags {
  readonly to?: string;
  readonly data?: string;
  readonly capture?: string;
  readonly exact?: boolean;
}

interface Message {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

export const send: Subcommand<Flags> = {
  description:
    "Sends one delivery, signed as the service signs it, and shows the answer. A captured delivery gets a new id and a new signature, so " +
    "that the receiver handles it; with --exact, it is sent as it was received. The exit status is 0 after a 2xx.",
  arguments: [new Argument("[event]", "job.running, job.succeeded, job.failed, or another")],
  options: [
    new Option("--to <url>", "the receiver (default: the stack's only development endpoint)").argParser(
      httpUrl,
    ),
    new Option("--data <json>", "the event's data, or @ and the path of a file (default: a job)").conflicts(
      "capture",
    ),
    new Option("--capture <file>", "send a captured delivery, such as one of listen --save"),
    new Option("--exact", "keep the id, the time and the signature of the capture"),
    stackOption(),
    jsonOption(),
  ],
  examples: [
    "send job.succeeded",
    `send job.failed --to http://127.0.0.1:8080/jobs --data '{"jobId":"job_1"}'`,
    "send --capture captures/1795253400000-msg_2Lh9.json --to http://127.0.0.1:8080/jobs",
  ],
  async run(context, flags, [event]) {
    const { output } = context;
    const { to, exact = false, capture } = flags;
    if ((capture === undefined) === (event === undefined))
      throw new CliError(
        "WRONG_USE",
        "name an event, such as job.succeeded, or a captured delivery with --capture",
      );
    if (exact && capture === undefined) throw new CliError("WRONG_USE", "--exact is for --capture");
    const isComplete = exact && to !== undefined;
    const signing = isComplete ? undefined : await readSecrets(context);
    const url = to ?? developmentUrl(signing);
    const { headers, body } = await messageOf(flags, event, signing?.secrets ?? []);
    const name = readEvent(body).event ?? "unknown event";
    const id = String(headers["webhook-id"] ?? "no id");
    if (!(JOB_EVENTS as readonly string[]).includes(name)) output.note(`The service has no event ${name}.`);

    const posting = postDelivery({ url, headers, body });
    const answer = await output.during(() => "Waiting for the receiver…", posting);
    const { status, failure, durationMs } = answer;
    const text = answer.body.toString("utf8").trim().slice(0, LONGEST_ANSWER);
    output.data({ event: name, id, status, failure, durationMs, answer: text }, () => {
      const result = status === null ? `no answer (${failure})` : `${status} after ${durationMs} ms`;
      output.line(`${name} ${id} to ${describeUrl(url)}: ${result}`);
      for (const line of text === "" ? [] : text.split(/\r?\n/)) output.line(`  ${line}`);
    });
    if (status === 401)
      output.note(
        `The receiver did not verify it: it has another secret, or reads the body before it is verified. To find out, receive it with \`npx ${PROGRAM} listen\`.`,
      );
    return status !== null && status >= 200 && status < 300;
  },
};

/** Production endpoints belong to the service's own deliveries. @throws CliError `WRONG_USE` */
function developmentUrl(signing: SigningSecrets | undefined): string {
  const { endpoints = {}, source = "the receiver's configuration" } = signing ?? {};
  const found = Object.entries(endpoints).filter(([, { type }]) => type === "development");
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return httpUrl(first[1].url);
  const names = found.map(([name]) => name).join(", ");
  const count =
    found.length === 0 ? "no development endpoint" : `${found.length} development endpoints: ${names}`;
  throw new CliError("WRONG_USE", `${source} names ${count}. Name the url of the receiver with --to`);
}

async function messageOf(
  { capture, exact, data }: Flags,
  event = "",
  secrets: readonly string[],
): Promise<Message> {
  if (capture === undefined) {
    const body = Buffer.from(`{"type":${JSON.stringify(event)},"data":${await dataOf(event, data)}}`);
    return { headers: { "content-type": "application/json", ...signed(body, secrets) }, body };
  }
  const { headers, body } = await readCapture(capture);
  const given = deliveryHeaders(headers);
  return { headers: exact ? given : { ...given, ...signed(body, secrets) }, body };
}

function signed(body: Buffer, secrets: readonly string[]) {
  const id = `msg_${randomBytes(12).toString("hex")}`;
  const timestamp = Math.floor(Date.now() / 1000);
  return { "user-agent": PROGRAM, ...sign({ id, timestamp, body, secret: secrets }) };
}

/** Returns JSON as it was given, because parsing would change large numbers. @throws CliError `WRONG_USE` or `FILE_UNREADABLE` */
async function dataOf(event: string, data: string | undefined): Promise<string> {
  if (data === undefined) {
    const isJob = (JOB_EVENTS as readonly string[]).includes(event);
    const jobId = `job_${randomBytes(8).toString("hex")}`;
    return isJob ? JSON.stringify({ jobId, status: event.slice("job.".length) }) : "{}";
  }
  const text = data.startsWith("@") ? await textOf(data.slice(1)) : data.trim();
  if (parseJson(text) !== undefined) return text;
  throw new CliError("WRONG_USE", `--data must be JSON, such as '{"jobId":"job_1","status":"succeeded"}'`);
}

async function textOf(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
    throw new CliError("FILE_UNREADABLE", `cannot read the file ${path} of --data (${code})`);
  });
  return text.replace(/^\uFEFF/, "").trim();
}
