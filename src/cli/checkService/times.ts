import type { Endpoint } from "../../client";
import { parseTimestamp, placeIn, windowOf } from "../../settlement/time";
import type { Findings } from "./findings";
import type { Wire } from "./wire";

/** The longest timestamp that a finding quotes whole, in characters. */
const LONGEST_SHOWN = 60;

/**
 * Judges the times of an endpoint, as the service shows it in several places.
 * @param sentAt the service's time before the registration, in milliseconds since 1970; null if it does not tell it
 */
export function judgeTimes(
  shown: readonly (Endpoint | undefined)[],
  sentAt: number | null,
  { wire, findings }: { wire: Wire; findings: Findings },
): void {
  const window = windowOf(sentAt, wire.account.patienceMs);
  for (const endpoint of shown) {
    if (endpoint === undefined) continue;
    const { createdAt } = endpoint;
    const came = `createdAt is ${JSON.stringify(createdAt?.slice(0, LONGEST_SHOWN) ?? null)}`;
    const place = placeIn(window, createdAt);
    if (createdAt === null || Number.isNaN(parseTimestamp(createdAt)))
      findings.add("timestamps", "differs", `${came}, which is not a time with a time zone`);
    else if (place === "outside")
      findings.add("timestamps", "differs", `${came}, and Date was ${new Date(sentAt ?? 0).toUTCString()}`);
    else if (place === "across")
      findings.add(
        "timestamps",
        "cannot tell",
        `${came}, which may be a whole minute by chance; check again`,
      );
    else findings.add("timestamps", "meets", came);
  }
}
