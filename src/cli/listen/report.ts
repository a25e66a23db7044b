import { saveCapture } from "../capture";
import { CliError } from "../errors";
import type { Output } from "../output";
import type { Arrival } from "./receiver";

/** Bounds what senders can write to the disk in one run, with the size of a body. */
const MOST_FILES = 1_000;

/** Prints what arrives, and saves it. The sender does not wait for that. */
export class Report {
  #saved = 0;
  #last: Promise<void> = Promise.resolve();

  /** @param folder where captures go; undefined: nowhere */
  constructor(
    private readonly output: Output,
    private readonly folder: string | undefined,
  ) {}

  /** Prints an arrival after those before it. */
  add(arrival: Arrival, { replayed = false } = {}): void {
    this.#last = this.#last.then(() => this.#print(arrival, replayed));
  }

  /** Resolves when everything so far is printed and saved. */
  async end(): Promise<void> {
    await this.#last;
  }

  async #print(arrival: Arrival, replayed: boolean): Promise<void> {
    const capture = replayed ? null : await this.#save(arrival);
    const { at, id = null, event = null, jobId = null, body, verdict, isRefused, status } = arrival;
    const { answer: _answer, ...forwarded } = arrival.forwarded ?? {};
    const data = { time: at.toISOString(), id, event, jobId, bytes: body.length, verdict, isRefused, status };
    const more = { forwarded: arrival.forwarded ? forwarded : null, capture, replayed };
    this.output.record({ ...data, ...more }, lineOf(arrival, replayed));
    if (capture !== null && !this.output.json) this.output.line(`          saved as ${capture}`);
  }

  async #save(arrival: Arrival): Promise<string | null> {
    if (this.folder === undefined || this.#saved > MOST_FILES) return null;
    this.#saved += 1;
    if (this.#saved > MOST_FILES) {
      this.output.warn(`${MOST_FILES} deliveries were saved, and no more are`);
      return null;
    }
    const { id, at, verdict } = arrival;
    return saveCapture(this.folder, arrival, { id, at, verdict }).catch((error: unknown) => {
      this.output.warn(error instanceof CliError ? error.reason : "a delivery was not saved");
      return null;
    });
  }
}

/** Such as `12:03:04  job.succeeded  job_42  msg_2Lh9  84 bytes  verified  forwarded: 200 after 12 ms`. */
function lineOf(arrival: Arrival, replayed: boolean): string {
  const { at, id, event, jobId, body, verdict, isRefused, status, forwarded } = arrival;
  return [
    at.toTimeString().slice(0, 8),
    event ?? "unknown event",
    jobId ?? "no job",
    id ?? "no id",
    `${body.length} bytes`,
    isRefused
      ? `refused with ${status}: ${verdict}`
      : verdict === "verified"
        ? verdict
        : `signature ${verdict}`,
    ...(forwarded === undefined ? [] : [`${replayed ? "replayed" : "forwarded"}: ${resultOf(forwarded)}`]),
  ].join("  ");
}

function resultOf({ status, failure, durationMs }: NonNullable<Arrival["forwarded"]>): string {
  return status === null
    ? `no answer (${failure}), so the sender got 502`
    : `${status} after ${durationMs} ms`;
}
