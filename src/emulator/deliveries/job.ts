import { randomBytes } from "node:crypto";
import type { Timers } from "../timers";
import type { Deliveries } from "./deliveries";
import type { Delivery, EventTarget } from "./event";

export interface JobOptions extends EventTarget {
  /** Default `succeeded`. */
  readonly outcome?: "succeeded" | "failed";
  /** Default: a new one. */
  readonly jobId?: string;
  /** Between the first attempts of `job.running` and the end of the job. Default 0. */
  readonly durationMs?: number;
}

export interface Job {
  readonly jobId: string;
  readonly running: Delivery;
  readonly finished: Delivery;
}

/**
 * A job from its beginning to its end. A `job.running` that fails does not hold up the end: its retries go on beside
 * it, and so the two may arrive in either order, as with the service.
 */
export async function runJob(deliveries: Deliveries, timers: Timers, options: JobOptions): Promise<Job> {
  const { outcome = "succeeded", durationMs = 0, ...rest } = options;
  const { jobId = `job_${randomBytes(8).toString("hex")}`, ...target } = rest;
  const running = deliveries.dispatch({ ...target, type: "job.running", data: { jobId, status: "running" } });
  await running.attempted;
  await timers.sleep(durationMs);
  const finished = deliveries.dispatch({
    ...target,
    type: `job.${outcome}`,
    data: { jobId, status: outcome },
  });
  return { jobId, running: await running.done, finished: await finished.done };
}
