import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captureFile } from "../../page";
import { shown } from "../../shared/masking";
import { shareableHeaders } from "../capture";
import type { Output } from "../output";
import type { Arrival } from "./receiver";

/** Returns a function that prints what arrives, and saves it. @param folder where captures go; undefined: nowhere */
export function reporter(output: Output, folder: string | undefined): (arrival: Arrival) => void {
  const save = (arrival: Arrival): string | null => {
    if (folder === undefined || arrival.isReplay) return null;
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
    const { at, path, id = null, event = null, jobId = null, body, verdict, isRefused, status } = arrival;
    const { headers: _headers, body: _body, ...result } = arrival.forwarded ?? {};
    const forwarded = arrival.forwarded ? result : null;
    const data = {
      time: at.toISOString(),
      path,
      id,
      event,
      jobId,
      bytes: body.length,
      verdict,
      isRefused,
      status,
    };
    output.record({ ...data, forwarded, capture, replayed: arrival.isReplay }, lineOf(arrival));
    if (capture !== null && !output.json) output.line(`          saved as ${capture}`);
  };
}

function nameOf({ at, id = "no-id" }: Arrival): string {
  return `${at.getTime()}-${id.replace(/[^\w-]/g, "_").slice(0, 64)}.json`;
}

/** Such as `12:03:04  /jobs  job.succeeded  job_42  msg_2Lh9  84 bytes  verified  forwarded: 200 after 12 ms`. */
function lineOf(arrival: Arrival): string {
  const { at, path, id, event, jobId, body, verdict, isRefused, status, forwarded } = arrival;
  const accepted = verdict === "verified" ? verdict : `signature ${verdict}`;
  const parts = [
    at.toTimeString().slice(0, 8),
    path,
    event ?? "unknown event",
    jobId ?? "no job",
    id ?? "no id",
    `${body.length} bytes`,
    isRefused ? `refused with ${status}: ${verdict}` : accepted,
  ];
  if (forwarded !== undefined) {
    const { status, failure, durationMs } = forwarded;
    const noAnswer = `no answer (${failure}), so the sender got 502`;
    const result = failure === null ? `${status} after ${durationMs} ms` : noAnswer;
    parts.push(`${arrival.isReplay ? "replayed" : "forwarded"}: ${result}`);
  }
  return parts.join("  ");
}
