import { createHash } from "node:crypto";
import { requireMethods } from "../optionChecks";
import type { DeliveryQueue } from "./queue";

/** The part of a `PgBoss` that is used, version 12. */
export interface PgBossClient {
  /** Adds a job. Resolves with null if the queue has a job with this id, or if it takes no more jobs. */
  send(name: string, data: object, options: { readonly id: string }): PromiseLike<string | null>;
  /** Returns a job, or null. */
  getJobById(name: string, id: string): PromiseLike<unknown>;
}

/**
 * Hands deliveries to a queue of pg-boss, which must exist (`boss.createQueue`). A delivery that arrives again is not added again while
 * its job exists: completed jobs stay for `deleteAfterSeconds`, seven days by default. Retries, backoff and the dead letter queue are
 * those of the queue.
 *
 * ```ts
 * await boss.createQueue("webhooks", { retryLimit: 10, retryBackoff: true, deadLetter: "webhooks-dead" });
 * const receiver = createReceiver({ secrets, queue: pgBossQueue(boss, "webhooks") });
 * ```
 *
 * @throws TypeError if the first argument is not a `PgBoss`, or the second is not the name of a queue
 */
export function pgBossQueue(boss: PgBossClient, name: string): DeliveryQueue {
  const remedy =
    "pgBossQueue: pass a PgBoss of pg-boss and the name of its queue, such as pgBossQueue(boss, name).";
  requireMethods(boss, ["send", "getJobById"], remedy);
  if (typeof name !== "string" || name === "") throw new TypeError(remedy);
  return {
    async add(delivery) {
      // 32 hexadecimal digits are a UUID to PostgreSQL.
      const id = createHash("sha256").update(delivery.key).digest("hex").slice(0, 32);
      const added = await boss.send(name, delivery, { id });
      // It has this delivery, or the queue's policy takes no more jobs, and the delivery would be lost.
      if (added === null && !(await boss.getJobById(name, id)))
        throw new Error(
          `The queue ${name} of pg-boss dropped the delivery. Create the queue with the policy "standard", which is the default.`,
        );
    },
  };
}
