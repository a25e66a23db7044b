import { createHash } from "node:crypto";
import type { DeliveryQueue } from "./delivery";

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
 */
export function pgBossQueue(boss: PgBossClient, name: string): DeliveryQueue {
  return {
    async add(delivery) {
      const id = uuidOf(delivery.key);
      const added = await boss.send(name, delivery, { id });
      // It has this delivery, or the queue's policy takes no more jobs, and the delivery would be lost.
      if (added === null && !(await boss.getJobById(name, id)))
        throw new Error(
          `The queue ${name} of pg-boss dropped the delivery. Create the queue with the policy "standard", which is the default.`,
        );
    },
  };
}

/** Returns a UUID that stands for a key, of version 8: made by an algorithm of one's own. */
function uuidOf(key: string): string {
  const bytes = createHash("sha256").update(key).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
