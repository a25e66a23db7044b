import { randomBytes } from "node:crypto";
import type { Deliveries } from "./deliveries";
import type { Delivery, EventTarget } from "./event";
import type { Timers } from "./timers";

/** Options of `runJob`. */
export interface JobOptions extends EventTarget {
  /** Default `succeeded`. */
  readonly outcome?: "succeeded" | "failed";
  /** Default: a new id. */
  readonly jobId?: string;
  /** The wait between the first attempts of `job.running` and the end of the job, in milliseconds. Default 0. */
  readonly durationMs?: number;
}

/** A job that has run, with its events. */
export interface Job {
  /** The job's id. */
  readonly jobId: string;
  /** The delivery of `job.running`. */
  readonly running: Delivery;
  /** The delivery of `job.succeeded` or `job.failed`. */
  readonly finished: Delivery;
}

/**
 * Delivers a job's start and its end. If `job.running` fails, its retries continue while the end is delivered. The two
 * events may therefore arrive in either order, as with the real service.
 */
export async function runJob(
  { deliveries, timers }: { readonly deliveries: Deliveries; readonly timers: Timers },
  { outcome = "succeeded", jobId, durationMs = 0, ...target }: JobOptions = {},
): Promise<Job> {
  const id = jobId ?? `job_${randomBytes(8).toString("hex")}`;
  const send = (status: string) =>
    deliveries.dispatch({ ...target, type: `job.${status}`, data: { jobId: id, status } });
  const running = send("running");
  await running.attempted;
  await timers.sleep(durationMs);
  const finished = send(outcome);
  return { jobId: id, running: await running.done, finished: await finished.done };
}
