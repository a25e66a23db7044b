import { foreign } from "../../../shared/escape";
import type { Output } from "../../output";
import { captureSaver } from "./saveCapture";
import type { Arrival } from "./server";

/** Returns a function that prints what arrives, and saves it. @param folder where captures go; undefined: nowhere */
export function reporter(output: Output, folder: string | undefined): (arrival: Arrival) => void {
  const save = captureSaver(output, folder);
  return (arrival) => {
    const capture = save(arrival);
    const { at, summary, isReplay } = arrival;
    const { headers: _headers, body: _body, ...result } = arrival.forwarded ?? {};
    const forwarded = arrival.forwarded ? result : null;
    const data = { time: at.toISOString(), ...summary, forwarded, capture, replayed: isReplay };
    output.record(data, lineOf(arrival));
    if (capture !== null && !output.json) output.line(`          saved as ${capture}`);
  };
}

/** Returns why a request was refused, and which secrets did not sign it. */
export function describeVerdict({ verdict, tried }: Arrival["summary"]): string {
  return tried.length === 0 ? verdict : `${verdict} (tried secret ${tried.join(" and ")})`;
}

/** Such as `12:03:04  /jobs  job.succeeded  job_42  msg_2Lh9  84 bytes  verified  forwarded: 200 after 12 ms`. */
function lineOf({ at, summary, forwarded, isReplay }: Arrival): string {
  const { path, id, event, jobId, bytes, verdict, isRefused, status } = summary;
  const accepted = verdict === "verified" ? verdict : `signature ${verdict}`;
  const parts = [
    at.toTimeString().slice(0, 8),
    foreign(path),
    foreign(event ?? "unknown event"),
    foreign(jobId ?? "no job"),
    foreign(id ?? "no id"),
    `${bytes} bytes`,
    isRefused ? `refused with ${status}: ${describeVerdict(summary)}` : accepted,
  ];
  if (forwarded !== undefined) {
    const { status, failure, durationMs } = forwarded;
    const noResponse = `no response (${failure}), so the sender got 502`;
    const result = failure === null ? `${status} after ${durationMs} ms` : noResponse;
    parts.push(`${isReplay ? "replayed" : "forwarded"}: ${result}`);
  }
  return parts.join("  ");
}
