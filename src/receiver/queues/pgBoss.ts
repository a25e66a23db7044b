import { createHash } from "node:crypto";
import { CodedError } from "../../shared/codedError";
import { checkFunctions } from "../checks";
import { KEEP_SECONDS } from "../process";
import { warnerOnce } from "../reports";
import type { DeliveryQueue } from "./delivery";

/** The part of a `PgBoss` that is used, version 12. */
export interface PgBossClient {
  /** Adds a job. */
  send(name: string, data: object, options: { readonly id: string }): PromiseLike<string | null>;
  /** Returns the settings of a queue. */
  getQueue?(name: string): PromiseLike<unknown>;
  /** Returns a job, or null. Tells a job that the queue has from one that it dropped, because `send` gives null for both. */
  getJobById?(name: string, id: string): PromiseLike<unknown>;
}

/** pg-boss did not take a delivery that it does not have. */
class QueueDroppedError extends CodedError<"QUEUE_DROPPED"> {
  override readonly name = "QueueDroppedError";

  constructor(name: string) {
    super(
      "QUEUE_DROPPED",
      `The queue ${name} of pg-boss dropped the delivery. Create the queue with the policy "standard", which is the default.`,
    );
  }
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
 * Warns once if the queue forgets completed jobs within three days.
 *
 * @throws TypeError if it is not a pg-boss, or the name is empty
 */
export function pgBossQueue(boss: PgBossClient, name: string): DeliveryQueue {
  checkFunctions("pgBossQueue: boss", boss, {
    functions: ["send"],
    advice: "Pass a PgBoss that was started.",
  });
  if (typeof name !== "string" || name === "")
    throw new TypeError("pgBossQueue: name must be a non-empty string.");
  let isChecked = false;

  /** A queue that cannot be read is checked again with the next delivery. */
  async function check(): Promise<void> {
    const queue = (await boss.getQueue?.(name)) as { deleteAfterSeconds?: unknown } | null | undefined;
    if (isChecked) return;
    isChecked = true;
    // npm installs version 10 on Node 20, whose queues have no such setting.
    if (queue && queue.deleteAfterSeconds === undefined)
      warnerOnce()(
        `pgBossQueue: this pg-boss forgets a delivery soon after it was handled (version 10 after 12 hours), so a later retry of its sender is ` +
          "handled again. Use pg-boss 12.",
      );
    const kept = Number(queue?.deleteAfterSeconds ?? KEEP_SECONDS);
    if (kept > 0 && kept < KEEP_SECONDS)
      warnerOnce()(
        `pgBossQueue: the queue ${name} forgets a delivery ${kept} seconds after it was handled, so a later retry of its sender is ` +
          `handled again. Set its deleteAfterSeconds to ${KEEP_SECONDS} or more.`,
      );
  }

  check().catch(() => {});
  return {
    async add(delivery) {
      const id = uuidOf(delivery.key);
      const added = await boss.send(name, delivery, { id });
      // It has a job with this id, or the queue's policy allows no more jobs: that delivery would be lost.
      if (added === null && boss.getJobById !== undefined && !(await boss.getJobById(name, id)))
        throw new QueueDroppedError(name);
      if (!isChecked) check().catch(() => {});
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
