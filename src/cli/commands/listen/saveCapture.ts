import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { captureFile } from "../../../shared/captureFile";
import { shown } from "../../../shared/masking";
import { shareableHeaders } from "../../capture";
import type { Output } from "../../output";
import type { Arrival } from "./server";

/** How many requests are saved in a run whose signature was refused or not checked. Anybody behind a tunnel can send them. */
const MOST_UNVERIFIED = 1_000;

/** Returns a function that saves what arrives, and returns the file's path; null if nothing was saved. @param folder undefined: nothing is */
export function captureSaver(
  output: Output,
  folder: string | undefined,
): (arrival: Arrival) => string | null {
  let unverified = 0;
  return (arrival) => {
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
}

function nameOf({ at, summary: { id } }: Arrival): string {
  return `${at.getTime()}-${(id ?? "no-id").replace(/[^\w-]/g, "_").slice(0, 64)}.json`;
}
