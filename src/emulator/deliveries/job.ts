import { randomBytes } from "node:crypto";
import type { Timers } from "../timers";
import type { Deliveries } from "./deliveries";
import type { Delivery, EventTarget } from "./event";

export interface JobOptions extends EventTarget {
  /** Default `succeeded`. */
  readonly outcome?: "succeeded" | "failed";
  /** Default: a new id. */
  readonly jobId?: string;
  /** The wait between the first attempts of `job.running` and the end of the job. Default 0. */
  readonly durationMs?: number;
}

export interface Job {
  readonly jobId: string;
  readonly running: Delivery;
  readonly finished: Delivery;
}

/**
 * Delivers a job's start and its end. If `job.running` fails, its retries continue while the end is delivered. The two
 * events may therefore arrive in either order, as with the real service.
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
