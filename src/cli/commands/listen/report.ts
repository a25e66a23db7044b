import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captureFile } from "../../../shared/captureFile";
import { foreign } from "../../../shared/escape";
import { shown } from "../../../shared/masking";
import { shareableHeaders } from "../../capture";
import type { Output } from "../../output";
import type { Arrival } from "./server";

/** How many requests are saved in a run whose signature was refused or not checked. Anybody behind a tunnel can send them. */
const MOST_UNVERIFIED = 1_000;

/** Returns a function that prints what arrives, and saves it. @param folder where captures go; undefined: nowhere */
export function reporter(output: Output, folder: string | undefined): (arrival: Arrival) => void {
  let unverified = 0;
  const save = (arrival: Arrival): string | null => {
    if (folder === undefined || arrival.isReplay) return null;
    if (arrival.summary.verdict !== "verified") unverified += 1;
    if (arrival.summary.verdict !== "verified" && unverified > MOST_UNVERIFIED) {
      output.warn(
        `${MOST_UNVERIFIED} requests were saved that are not verified. From now on, only what is verified is saved`,
      );
      return null;
    }
    const path = join(folder, nameOf(arrival));
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const { body, headers, at } = arrival;
      const file = captureFile({ at: at.getTime(), headers: shareableHeaders(headers), body });
      writeFileSync(path, file, { flag: "wx", mode: 0o600 });
      return path;
    } catch (error) {
      output.warn(`cannot save a capture in ${shown(folder)} (${(error as NodeJS.ErrnoException).code})`);
      return null;
    }
  };
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

function nameOf({ at, summary: { id } }: Arrival): string {
  return `${at.getTime()}-${(id ?? "no-id").replace(/[^\w-]/g, "_").slice(0, 64)}.json`;
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
