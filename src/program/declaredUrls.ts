import * as pulumi from "@pulumi/pulumi";
import { sleep, systemClock } from "../client/clock";
import { isSecretUrl, noteSecretUrl } from "../provider/secretUrls";

/** How long a query waits for declared urls that are not known yet, in milliseconds. */
const LONGEST_WAIT_MS = 2_000;

/** Declared urls of which neither the value nor whether it is a secret is known yet. */
const undecided = new Set<Promise<void>>();
/** True once this preview has met a secret url that only the `up` will know. */
let hasUnknownSecret = false;

/** Takes note of a url that the program declares: if it is a secret, no query may show it. */
export function declareUrl(url: pulumi.Input<string> | undefined): void {
  const deciding = decide(pulumi.output(url))
    .catch(() => {}) // a url that fails fails the resource
    .finally(() => undecided.delete(deciding));
  undecided.add(deciding);
}

async function decide(url: pulumi.Output<string | undefined>): Promise<void> {
  if (!(await pulumi.isSecret(url))) return;
  // The SDK's types leave it out. `apply` is never called for a value that is unknown.
  const isKnown: boolean = await Reflect.get(url, "isKnown");
  if (isKnown) noteSecretUrl(await new Promise((resolve) => url.apply(resolve)));
  else hasUnknownSecret = true;
}

/**
 * Returns whether one of these urls is a secret of this program, or may be: some declared url is still not known after a moment. A
 * query cannot wait for each declared url, because a url may depend on that query.
 */
export async function mayBeSecret(urls: readonly string[]): Promise<boolean> {
  if (urls.length === 0) return false;
  await decided();
  return hasUnknownSecret || undecided.size > 0 || urls.some(isSecretUrl);
}

/** Waits until each declared url is known, also those that are declared meanwhile, but not longer than a moment. */
async function decided(): Promise<void> {
  const decision = new AbortController();
  let isOver = false;
  const over = sleep(LONGEST_WAIT_MS, { clock: systemClock, signal: decision.signal }).then(() => {
    isOver = true;
  });
  while (undecided.size > 0 && !isOver) await Promise.race([Promise.all(undecided), over]);
  decision.abort();
}
