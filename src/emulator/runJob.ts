import { randomBytes } from "node:crypto";
import type { Deliveries } from "./deliveries";
import type { DeliveryRecord } from "./deliveryRecord";
import type { EventTarget } from "./event";

/** Options of `runJob`. */
export interface JobOptions extends EventTarget {
  /** Default `succeeded`. */
  readonly outcome?: "succeeded" | "failed";
  /** Default: a new id. */
  readonly jobId?: string;
}

/** Returns a new id for a job. */
export function newJobId(): string {
  return `job_${randomBytes(8).toString("hex")}`;
}

/** A job that has run, with its events. */
export interface Job {
  /** The job's id. */
  readonly jobId: string;
  /** The delivery of `job.running`. */
  readonly running: DeliveryRecord;
  /** The delivery of `job.succeeded` or `job.failed`. */
  readonly finished: DeliveryRecord;
}

/**
 * Delivers a job's start and its end. If `job.running` fails, its retries continue while the end is delivered. The two
 * events may therefore arrive in either order, as with the real service.
 */
export async function runJob(
  deliveries: Deliveries,
  { outcome = "succeeded", jobId = newJobId(), ...target }: JobOptions = {},
): Promise<Job> {
  const send = (status: string) =>
    deliveries.dispatch({ ...target, event: `job.${status}`, data: { jobId, status } });
  const running = send("running");
  await running.attempted;
  const finished = send(outcome);
  return { jobId, running: await running.done, finished: await finished.done };
}
