import type { RequestData } from "../capture/captureFile";
import type { Received, Refused } from "./localReceiver";

/** How much of a body is shown to people, in characters. With `--json`, it is whole. */
const SHOWN_BODY_LENGTH = 16 * 1024;

/** Returns a verified delivery as `--json` prints it. */
export function dataOfReceived({ event, jobId, forwarded, ...rest }: Received, at: Date): object {
  return {
    time: at.toISOString(),
    verified: true,
    event: event ?? null,
    jobId: jobId ?? null,
    ...rest,
    forwarded: forwarded ?? null,
  };
}

/** Returns a refused request as `--json` prints it. */
export function dataOfRefused({ unverifiedId, ...rest }: Refused, at: Date): object {
  return { time: at.toISOString(), verified: false, ...rest, unverifiedId: unverifiedId ?? null };
}

/** Returns a verified delivery as a line for people. */
export function lineOfReceived({ event, jobId, id, status, forwarded }: Received, at: Date): string {
  const what = `${clock(at)}  ${event ?? "unknown event"}  ${jobId ?? "no job"}  ${id}`;
  if (forwarded === undefined) return `${what}  verified`;
  const { failure, durationMs } = forwarded;
  const result =
    failure === null
      ? `${status} after ${durationMs} ms`
      : `${status}, because the target did not answer (${failure})`;
  return `${what}  verified, forwarded: ${result}`;
}

/** Returns a refused request as a line for people. */
export function lineOfRefused({ reason, status, unverifiedId }: Refused, at: Date): string {
  const id = unverifiedId === undefined ? "" : `  ${unverifiedId}`;
  return `${clock(at)}  refused with ${status}: ${reason}${id}`;
}

/** Returns the headers and the body of a request as indented lines. */
export function linesOfRequest({ headers, body, isBase64Encoded }: RequestData): string[] {
  const left = body.length - SHOWN_BODY_LENGTH;
  const text = left > 0 ? `${body.slice(0, SHOWN_BODY_LENGTH)}… (${left} more characters)` : body;
  const lines = [
    ...headers.map(([name, value]) => `${name}: ${value}`),
    "",
    ...(isBase64Encoded ? ["(not UTF-8, in base64)"] : []),
    ...text.split(/\r?\n/),
  ];
  return lines.map((line) => `  ${line}`.trimEnd());
}

/** Returns the local time of day. */
function clock(at: Date): string {
  return at.toTimeString().slice(0, 8);
}
