import { DeadlineError, isPromise, within } from "./deadline";
import type { Claim, DedupeStore } from "./dedupe/store";
import type { VerifiedDelivery } from "./delivery";
import { isJobDelivery } from "./event";
import type { Delivery, Handler, JobDelivery, OutcomeKind } from "./types";

export interface Processing {
  readonly store: DedupeStore;
  readonly dedupeKey: ((delivery: JobDelivery) => string) | undefined;
  readonly handlers: ReadonlyMap<string, Handler<JobDelivery>>;
  /** Handles what no handler does. */
  readonly onUnhandled: Handler<Delivery> | undefined;
  readonly handlerTimeoutMs: number;
  /** Longer than the handler's deadline: what is taken over has stopped, or was told to. */
  readonly leaseMs: number;
  readonly keepMs: number;
}

export interface Processed {
  readonly outcome: OutcomeKind;
  readonly retryAfterMs?: number;
  readonly error?: unknown;
}

/** A store that neither answers nor fails, such as a client that queues while it is disconnected, counts as unreachable. */
const STORE_TIMEOUT_MS = 5_000;

/** Takes the claim, calls the handler, completes or releases. Never rejects. */
export async function processDelivery(
  delivery: VerifiedDelivery,
  processing: Processing,
): Promise<Processed> {
  const { store, leaseMs, handlerTimeoutMs, keepMs } = processing;
  let key: string;
  try {
    key = keyOf(delivery, processing.dedupeKey);
  } catch (error) {
    return { outcome: "failed", error };
  }
  let claim: Claim;
  try {
    claim = await claimFrom(store, key, leaseMs);
  } catch (error) {
    return { outcome: "store-unavailable", error };
  }
  if (claim?.state === "completed") return { outcome: "duplicate" };
  if (claim?.state === "held") return { outcome: "held", retryAfterMs: claim.retryAfterMs };
  if (claim?.state !== "claimed")
    return {
      outcome: "store-unavailable",
      error: new TypeError("The dedupe store's claim has no known state."),
    };

  const { token } = claim;
  const work = workOn(delivery, processing);
  const ended: Processed =
    work === undefined
      ? { outcome: "unhandled" }
      : await run(work, delivery, handlerTimeoutMs, () => store.complete(key, token, keepMs));
  // The handler may still be at work: its claim stays until the lease ends.
  if (ended.outcome === "timed-out") return { ...ended, retryAfterMs: leaseMs - handlerTimeoutMs };
  try {
    if (ended.outcome === "failed") await settle(store.release(key, token));
    else await settle(store.complete(key, token, keepMs));
  } catch (error) {
    // The answer stands: what was handled must not be sent again because the store cannot be told.
    return { error, ...ended };
  }
  return ended;
}

/** The call of the handler, if anybody handles this delivery. */
function workOn(
  delivery: VerifiedDelivery,
  { handlers, onUnhandled }: Processing,
): (() => unknown) | undefined {
  if (isJobDelivery(delivery)) {
    const handler = handlers.get(delivery.event);
    if (handler !== undefined) return () => handler(delivery);
  }
  return onUnhandled && (() => onUnhandled(delivery));
}

function keyOf(delivery: Delivery, dedupeKey: Processing["dedupeKey"]): string {
  if (!dedupeKey || !isJobDelivery(delivery)) return delivery.id;
  const key: unknown = dedupeKey(delivery);
  if (typeof key === "string" && key !== "") return key;
  throw new TypeError(
    "dedupeKey must give a string that is not empty: return delivery.id where there is no better key.",
  );
}

async function claimFrom(store: DedupeStore, key: string, leaseMs: number): Promise<Claim> {
  const claiming = store.claim(key, leaseMs);
  if (!isPromise(claiming)) return claiming;
  try {
    return await within(STORE_TIMEOUT_MS, "The claim in the dedupe store", claiming);
  } catch (error) {
    if (error instanceof DeadlineError) giveBackWhenItComes(claiming, store, key);
    throw error;
  }
}

/** A claim that comes after the sender was sent away would keep the retries out for a whole lease. */
function giveBackWhenItComes(claiming: PromiseLike<Claim>, store: DedupeStore, key: string): void {
  const giveBack = (claim: Claim) =>
    claim.state === "claimed" ? store.release(key, claim.token) : undefined;
  claiming.then(giveBack).then(undefined, () => {});
}

function settle(settling: boolean | PromiseLike<boolean>): boolean | Promise<boolean> {
  return isPromise(settling)
    ? within(STORE_TIMEOUT_MS, "The answer of the dedupe store", settling)
    : settling;
}

/** @param onLate called when the handler, past its deadline, has done its work nevertheless */
async function run(
  work: () => unknown,
  delivery: VerifiedDelivery,
  timeoutMs: number,
  onLate: () => unknown,
): Promise<Processed> {
  let working: unknown;
  try {
    working = work();
    if (isPromise(working)) await within(timeoutMs, "The handler", working);
    return { outcome: "handled" };
  } catch (error) {
    if (!(error instanceof DeadlineError)) return { outcome: "failed", error };
    delivery.expire(error);
    // One that watches its signal may resolve because it stopped; then the retry is handled anew.
    if (isPromise(working))
      working.then(() => (delivery.isWatched ? undefined : onLate())).then(undefined, () => {});
    return { outcome: "timed-out", error };
  }
}
