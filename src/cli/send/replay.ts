import { readEvent } from "../../receiver/event";
import { isCanonicalId, isCanonicalTimestamp } from "../../signature/headers";
import { readCaptures } from "../capture/capture";
import { deliveryHeaders } from "../capture/captureFile";
import { choose } from "../capture/choose";
import { CliError } from "../errors";
import { readInput } from "../inputFile";
import type { NamedSecret } from "../secrets";
import { type Message, newId, signedMessage } from "./message";

export interface ReplayOptions {
  /** Which delivery, if the file has several. */
  readonly id: string | undefined;
  /** Signs it now, with these secrets. Undefined to send it byte for byte. */
  readonly signAnew:
    | { readonly secrets: readonly NamedSecret[]; readonly age: number; readonly isNewId: boolean }
    | undefined;
}

/** Returns a captured delivery as a message. @throws CliError `WRONG_USE` or `FILE_UNREADABLE` */
export async function replayedMessage(path: string, { id, signAnew }: ReplayOptions): Promise<Message> {
  const { headers, body } = choose(readCaptures(await readInput(path, "--capture")), id);
  if (body === undefined)
    throw new CliError(
      "WRONG_USE",
      "the file of --capture has no body. One of `listen --save` has headers and body",
    );
  const kept = deliveryHeaders(headers);
  const { "webhook-id": [captured = ""] = [], "webhook-timestamp": [timestamp = ""] = [] } = kept;
  const event = readEvent(body).event ?? "unknown event";
  if (signAnew === undefined) {
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
