import { saveCapture } from "../capture";
import { CliError } from "../errors";
import type { Output } from "../output";
import type { Arrival } from "./receiver";

/** Bounds what senders can write to the disk in one run, with the size of a body. */
const MOST_FILES = 1_000;

/** Returns a function that prints what arrives, and saves it. @param folder where captures go; undefined: nowhere */
export function reporter(output: Output, folder: string | undefined) {
  let count = 0;
  const save = (arrival: Arrival): string | null => {
    if (folder === undefined) return null;
    count += 1;
    if (count === MOST_FILES + 1) output.warn(`${MOST_FILES} deliveries were saved, and no more are`);
    if (count > MOST_FILES) return null;
    try {
      return saveCapture(folder, arrival);
    } catch (error) {
      output.warn(error instanceof CliError ? error.reason : "a delivery was not saved");
      return null;
    }
  };
  return (arrival: Arrival, { replayed = false } = {}): void => {
    const capture = replayed ? null : save(arrival);
    const { at, id = null, event = null, jobId = null, body, verdict, isRefused, status } = arrival;
    const { headers: _headers, body: _body, ...forwarded } = arrival.forwarded ?? {};
    const data = { time: at.toISOString(), id, event, jobId, bytes: body.length, verdict, isRefused, status };
    const more = { forwarded: arrival.forwarded ? forwarded : null, capture, replayed };
    output.record({ ...data, ...more }, lineOf(arrival, replayed));
    if (capture !== null && !output.json) output.line(`          saved as ${capture}`);
  };
}

/** Such as `12:03:04  job.succeeded  job_42  msg_2Lh9  84 bytes  verified  forwarded: 200 after 12 ms`. */
function lineOf(arrival: Arrival, replayed: boolean): string {
  const { at, id, event, jobId, body, verdict, isRefused, status, forwarded } = arrival;
  const accepted = verdict === "verified" ? verdict : `signature ${verdict}`;
  const parts = [
    at.toTimeString().slice(0, 8),
    event ?? "unknown event",
    jobId ?? "no job",
    id ?? "no id",
    `${body.length} bytes`,
    isRefused ? `refused with ${status}: ${verdict}` : accepted,
  ];
  if (forwarded !== undefined) {
    const { status, failure, durationMs } = forwarded;
    const noAnswer = `no answer (${failure}), so the sender got 502`;
    const result = status === null ? noAnswer : `${status} after ${durationMs} ms`;
    parts.push(`${replayed ? "replayed" : "forwarded"}: ${result}`);
  }
  return parts.join("  ");
}
