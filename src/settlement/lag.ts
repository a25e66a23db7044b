import { type Clock, sleep } from "../client/clock";

/**
 * How long a service may take until it knows a new endpoint, in milliseconds since it answered the registration: clause `list-lag` of
 * docs/service-contract.md.
 */
export const LAG_MS = 5_000;
const FIRST_PAUSE_MS = 250;

/**
 * Asks about an endpoint until the service knows it, or must know it. What was registered a moment ago may not be there yet, so "not
 * found" does not show that it is gone.
 *
 * @param forMs how much longer the service may not know the endpoint; nothing or less: asks once
 */
export async function whileNew<T>(
  ask: () => Promise<T>,
  isKnown: (answer: T) => boolean,
  { clock, forMs }: { readonly clock: Clock; readonly forMs: number },
): Promise<T> {
  const until = clock.now() + forMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    const answer = await ask();
    const leftMs = until - clock.now();
    if (isKnown(answer) || leftMs <= 0) return answer;
    await sleep(Math.min(pauseMs, leftMs), { clock, signal: undefined });
  }
}
