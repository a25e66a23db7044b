// Proves a DedupeStore of your own: copy this file, and run its tests with any runner, on real time. Those of this package pass them, too.
//
//   const store = new MyStore(process.env.DATABASE_URL);
//   for (const [name, prove] of Object.entries(dedupeStoreTests)) test(name, () => prove(store));

import { deepEqual, equal, ok } from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Claim, DedupeStore } from "pulumi-webhook-endpoints/receiver";

/** @param other the same store, as another process has it, with a connection of its own */
type DedupeStoreTest = (store: DedupeStore, other?: DedupeStore) => Promise<void>;

const LEASE_MS = 60_000;
const KEEP_MS = 3_600_000;
/** A lease, or a memory, whose end a test waits for. Longer than a few calls of the store take. */
const SHORT_MS = 1_000;

/** What receivers rely on. */
export const dedupeStoreTests: Readonly<Record<string, DedupeStoreTest>> = {
  async "one of many workers that claim a delivery at once gets it, for the time of its lease"(
    store,
    other = store,
  ) {
    const key = randomUUID();
    const claiming = Array.from({ length: 50 }, (_, at) => (at % 2 ? store : other).claim(key, LEASE_MS));
    const claims = await Promise.all(claiming);
    equal(claims.filter(({ state }) => state === "claimed").length, 1, "the number of workers that have it");
    for (const claim of claims.filter(({ state }) => state !== "claimed")) isHeld(claim, LEASE_MS);
  },

  async "a completed delivery is completed for every worker"(store, other = store) {
    const key = randomUUID();
    equal(await store.complete(key, tokenOf(await store.claim(key, SHORT_MS)), KEEP_MS), true);
    for (const each of [store, other]) deepEqual(await each.claim(key, LEASE_MS), { state: "completed" });
    await sleep(SHORT_MS);
    deepEqual(await other.claim(key, LEASE_MS), { state: "completed" }, "after its lease");
  },

  async "a completed delivery is forgotten after the time that it is kept for"(store, other = store) {
    const key = randomUUID();
    equal(await store.complete(key, tokenOf(await store.claim(key, LEASE_MS)), SHORT_MS), true);
    await sleep(SHORT_MS);
    await claimSoon(other, key);
  },

  async "a released delivery can be claimed at once"(store, other = store) {
    const key = randomUUID();
    equal(await store.release(key, tokenOf(await store.claim(key, LEASE_MS))), true);
    tokenOf(await other.claim(key, LEASE_MS));
  },

  async "another worker can claim a delivery when its lease ends"(store, other = store) {
    const key = randomUUID();
    tokenOf(await store.claim(key, SHORT_MS));
    await sleep(SHORT_MS);
    await claimSoon(other, key);
    isHeld(await store.claim(key, SHORT_MS), LEASE_MS);
  },

  async "a worker whose lease ended can complete its claim if nobody took over"(store, other = store) {
    const key = randomUUID();
    const token = tokenOf(await store.claim(key, SHORT_MS));
    await sleep(2 * SHORT_MS);
    equal(await store.complete(key, token, KEEP_MS), true);
    deepEqual(await other.claim(key, LEASE_MS), { state: "completed" });
  },

  async "a worker whose lease ended can neither complete nor release the claim of its successor"(
    store,
    other = store,
  ) {
    const key = randomUUID();
    const late = tokenOf(await store.claim(key, SHORT_MS));
    await sleep(SHORT_MS);
    const token = await claimSoon(other, key);
    equal(await store.complete(key, late, KEEP_MS), false);
    equal(await store.release(key, late), false);
    isHeld(await store.claim(key, LEASE_MS), LEASE_MS);
    equal(await other.complete(key, token, KEEP_MS), true);
    equal(await store.release(key, late), false);
    deepEqual(await store.claim(key, LEASE_MS), { state: "completed" });
  },

  async "no delivery is taken for another, whatever their keys are"(store, other = store) {
    const key = randomUUID();
    const keys = [
      key,
      key.toUpperCase(),
      `${key} `,
      `${key}:1`,
      `${key}\n`,
      `${key}é`,
      `${key}%_*`,
      key.repeat(99),
    ];
    for (const each of keys) {
      equal(await store.complete(each, tokenOf(await store.claim(each, LEASE_MS)), KEEP_MS), true);
      deepEqual(await other.claim(each, LEASE_MS), { state: "completed" });
    }
  },
};

function tokenOf(claim: Claim): string {
  equal(claim.state, "claimed");
  return claim.state === "claimed" ? claim.token : "";
}

function isHeld(claim: Claim, leaseMs: number): void {
  equal(claim.state, "held");
  const waitMs = claim.state === "held" ? claim.retryAfterMs : Number.NaN;
  ok(waitMs > 0 && waitMs <= leaseMs, `retryAfterMs is ${waitMs}, and the lease ${leaseMs}`);
}

/** Claims a key that is free in a moment: clocks and timers differ a little. */
async function claimSoon(store: DedupeStore, key: string): Promise<string> {
  for (let waits = 0; waits < 20; waits++) {
    const claim = await store.claim(key, LEASE_MS);
    if (claim.state === "claimed") return claim.token;
    await sleep(SHORT_MS / 10);
  }
  return tokenOf(await store.claim(key, LEASE_MS));
}
