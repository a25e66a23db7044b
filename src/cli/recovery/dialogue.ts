import { nameOf } from "../../settlement/deployment";
import { describeUrl } from "../../shared/url";
import type { Outcome, UnclearOutcome } from "./outcome";
import type { InterruptedRegistration } from "./registration";

/** How a recovery talks to the person at the terminal. */
export interface Dialogue {
  readonly say: (line: string) => void;
  /** Absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>;
}

/** Describes an outcome in a line. @param isRecorded whether a later run has recorded an endpoint for the resource */
export function describeOutcome(
  outcome: Outcome,
  isRecorded: (registration: InterruptedRegistration) => boolean,
): string {
  const { registration } = outcome;
  const what = `${nameOf(registration.urn)} (${describeUrl(registration.url)}, ${registration.type})`;
  switch (outcome.kind) {
    case "made":
      return `${what}: the registration created ${outcome.endpoint.id} (created ${outcome.endpoint.createdAt ?? "at an unknown time"})`;
    case "adopts":
      return `${what}: it should adopt ${outcome.id}; the next \`pulumi up\` will`;
    case "not-made":
      return isRecorded(registration)
        ? `${what}: a later run has recorded its endpoint, and the service lists no other`
        : `${what}: the registration never completed; the next \`pulumi up\` registers the endpoint`;
    case "unclear":
      return `${what}: unclear, because ${outcome.why}. Candidates: ${outcome.candidates.map(({ id }) => id).join(", ") || "none"}`;
  }
}

/**
 * Lets a person choose which endpoint a registration created.
 *
 * @returns undefined when the answer is neither a candidate nor "none"
 */
export async function choose(
  { registration, candidates, why }: UnclearOutcome,
  taken: ReadonlySet<string>,
  ask: Dialogue["ask"],
): Promise<Exclude<Outcome, UnclearOutcome> | undefined> {
  const left = candidates.filter(({ id }) => !taken.has(id));
  const ids = left
    .map(({ id, createdAt }) => `${id} (created ${createdAt ?? "at an unknown time"})`)
    .join(", ");
  const question = `${nameOf(registration.urn)}: ${why}. Which endpoint did it create: ${ids || "no candidate is left"}? Enter an id, or "none": `;
  const answer = (await ask?.(question))?.trim();
  if (answer === "none") return { kind: "not-made", registration };
  const endpoint = left.find(({ id }) => id === answer);
  return endpoint && { kind: "made", registration, endpoint };
}
