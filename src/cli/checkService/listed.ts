import type { Endpoint } from "../../client";
import { sleep } from "../../client/clock";
import { LAG_MS } from "../../settlement/lag";
import { sameUrl } from "../../shared/url";
import type { CheckOptions } from "./endpoints";
import { described } from "./wire";

/** How long the check waits for a list to show what has changed, in milliseconds. */
const LONGEST_LAG_MS = 15_000;
const LIST_PAUSE_MS = 250;

/** Lists until the list has an endpoint, and returns it as it is listed. */
export async function awaitListed(id: string, options: CheckOptions): Promise<Endpoint | undefined> {
  const { wire, findings, urls, clock, stopped } = options;
  const startedAt = clock.now();
  for (;;) {
    const { value: list, exchanges } = await wire.perform("GET", () => wire.account.client.list());
    if (list !== undefined) findings.wholeList(list);
    const lagMs = clock.now() - startedAt;
    const after = `after ${(lagMs / 1000).toFixed(1)} s`;
    const listed = list?.endpoints.find((each) => each.id === id);
    if (listed !== undefined) {
      findings.add("list-lag", lagMs < LAG_MS ? "meets" : "differs", after);
      const problem = problemIn(listed, urls.own);
      if (problem !== undefined) findings.add("list", "differs", `${described(exchanges)}, ${problem}`);
      return listed;
    }
    if (list?.unrecognized.some((each) => each.id === id)) {
      findings.add("list-lag", "cannot tell", after);
      findings.add("list", "differs", `${described(exchanges)}, but the new endpoint in it cannot be read`);
      return undefined;
    }
    if (list?.complete !== true || stopped.aborted || lagMs >= LONGEST_LAG_MS) {
      const isAbsent = list?.complete === true && !stopped.aborted;
      findings.add(
        "list-lag",
        isAbsent ? "differs" : "cannot tell",
        isAbsent ? `not ${after}` : described(exchanges),
      );
      return undefined;
    }
    await sleep(LIST_PAUSE_MS, { clock, signal: stopped });
  }
}

/** Lists until the list lacks an endpoint that is deleted. A service may have deleted it only for those who ask for it by its id. */
export async function awaitUnlisted(id: string, options: CheckOptions): Promise<void> {
  const { wire, findings, clock, stopped } = options;
  const startedAt = clock.now();
  for (;;) {
    const { value: list } = await wire.perform("GET", () => wire.account.client.list());
    const lagMs = clock.now() - startedAt;
    const isListed = list?.endpoints.some((each) => each.id === id) ?? false;
    if (!isListed && lagMs < LAG_MS) return;
    if (!isListed || lagMs >= LONGEST_LAG_MS) {
      const until = isListed ? "still lists it" : "listed it until";
      findings.add(
        "delete",
        "differs",
        `the service ${until} ${(lagMs / 1000).toFixed(1)} s after the delete`,
      );
      return;
    }
    if (stopped.aborted) return;
    await sleep(LIST_PAUSE_MS, { clock, signal: stopped });
  }
}

/** Returns what is wrong with the endpoint that the service shows. */
export function problemIn({ url, type }: Endpoint, sent: string): string | undefined {
  if (!sameUrl(url, sent)) return "its url is not the one that was registered";
  return type === "development" ? undefined : "its type is not the one that was registered";
}
