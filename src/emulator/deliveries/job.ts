import { randomBytes } from "node:crypto";
import { checkNames, EmulatorError } from "../errors";
import { checkDelay, type Timers } from "../timers";
import type { Deliveries } from "./deliveries";
import { type Delivery, type EventTarget, TARGET_OPTIONS } from "./event";
import { Patience } from "./patience";

/** Options of `runJob`. */
export interface JobOptions extends EventTarget {
  /** Default `succeeded`. */
  readonly outcome?: "succeeded" | "failed";
  /** Default: a new id. */
  readonly jobId?: string;
  /** The wait between the first attempts of `job.running` and the end of the job, in milliseconds. Default 0. */
  readonly durationMs?: number;
  /** How long to wait until both events are delivered, in milliseconds. Default: until the last retry. */
  readonly timeoutMs?: number;
}

const OPTIONS: Readonly<Record<keyof JobOptions, true>> = {
  ...TARGET_OPTIONS,
  outcome: true,
  jobId: true,
  durationMs: true,
  timeoutMs: true,
};

/** A job that has run, with its events. */
export interface Job {
  /** The job's id. */
  readonly jobId: string;
  /** The delivery of `job.running`. */
  readonly running: Delivery;
  /** The delivery of `job.succeeded` or `job.failed`. */
  readonly finished: Delivery;
}

interface JobRunner {
  readonly deliveries: Deliveries;
  readonly timers: Timers;
  readonly warn: (message: string) => void;
}

/**
 * Delivers a job's start and its end. If `job.running` fails, its retries continue while the end is delivered. The two
 * events may therefore arrive in either order, as with the real service.
 */
export async function runJob({ deliveries, timers, warn }: JobRunner, options: JobOptions): Promise<Job> {
  const { outcome = "succeeded", durationMs = 0, timeoutMs, ...rest } = options;
  const { jobId = `job_${randomBytes(8).toString("hex")}`, ...target } = rest;
  checkNames("run a job", options, OPTIONS);
  if (outcome !== "succeeded" && outcome !== "failed")
    throw new EmulatorError("EMULATOR_OPTIONS", "Cannot run a job: outcome must be succeeded or failed.");
  checkDelay("durationMs", durationMs);
  const patience = new Patience({ what: `The job ${jobId}`, timeoutMs, warn });
  const send = (type: string, status: string) =>
    deliveries.dispatch({ ...target, type, data: { jobId, status } }, patience.onRetry);
  const run = async (): Promise<Job> => {
    const running = send("job.running", "running");
    await running.attempted;
    await timers.sleep(durationMs);
    const finished = send(`job.${outcome}`, outcome);
    return { jobId, running: await running.done, finished: await finished.done };
  };
  return patience.wait(run());
}
