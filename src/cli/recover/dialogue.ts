import type { Endpoint } from "../../client";
import type { Category } from "../../settlement/category";
import { endpointsOf, isInState, type Verdict } from "../../settlement/leftovers";
import { describeDoubt, describeEndpoints, describeUnknowable } from "../../settlement/words";
import { describeUrl } from "../../shared/url";
import { nameOf } from "../../shared/urn";
import type { Output } from "../output";
import type { Pulumi } from "../pulumi";
import type { Asking } from "../terminal";

/** How a recovery talks to the person at the terminal. */
export interface Dialogue extends Asking {
  readonly say: (line: string) => void;
  /** Waits for work that asks nothing. If it takes longer than a second, a terminal shows what the command is doing. */
  readonly during: Output["during"];
}

/** Describes a verdict in a line. @param pulumi for the stack that the verdict is about */
export function describeVerdict(verdict: Verdict, category: Category, pulumi: Pulumi): string {
  return `${subjectOf(verdict)}: ${outcomeOf(verdict, category, pulumi)}`;
}

function outcomeOf(verdict: Verdict, category: Category, { withStack }: Pulumi): string {
  const { identity, decision } = verdict;
  const up = `The next \`${withStack("pulumi up")}\``;
  const made = describeEndpoints(endpointsOf(decision));
  if (category === "taken-over") return `it registered ${made}. ${up} takes it over.`;
  if (category === "perhaps-taken-over")
    return (
      `it registered ${made}. ${up} takes it over if the program declares a resource for it that the stack lacks. The stack has another ` +
      `endpoint with the same url and type: if nothing takes this one, \`${withStack("pulumi up")}\` warns, and recover then asks what to do with it.`
    );
  if (category === "unwanted") return `it registered ${made}, and no resource will take that.`;
  if (identity !== undefined && decision.kind === "doubt")
    return `${describeDoubt(identity, decision, { withStack })} (REGISTRATION_IN_DOUBT)`;
  if (identity !== undefined && decision.kind === "unknowable")
    return `${describeUnknowable(identity)} (STILL_PENDING)`;
  if (decision.kind === "unknowable")
    return "the service lists only a part of its endpoints, and none with this url (STILL_PENDING).";
  // It registered nothing, or a resource has what it registered, or a person has forgotten that.
  return `it left nothing behind.${isInState(verdict) ? ` ${up} registers what the program declares and the stack lacks.` : ""}`;
}

function subjectOf({ identity, operations, resource }: Verdict): string {
  const resources = [...operations, ...(resource ? [resource] : [])];
  const names = [...new Set(resources.map(({ urn }) => nameOf(urn)))].join(", ");
  const what = identity && `${describeUrl(identity.url)}, ${identity.type}`;
  if (what === undefined) return "a registration whose url the service does not list";
  return names === "" ? what : `${names} (${what})`;
}

/** Asks what to do with an endpoint that no `up` will take. Returns undefined without an answer that fits. */
export async function chooseFate(
  verdict: Verdict,
  endpoint: Endpoint,
  ask: Dialogue["ask"],
): Promise<"delete" | "keep" | undefined> {
  const question =
    `${subjectOf(verdict)}: what to do with ${describeEndpoints([endpoint])}? Enter "delete" to delete it at the service (make sure that no ` +
    'run is under way), or "keep" to leave it there and forget it, for example because it is somebody else\'s. Anything else leaves the case open: ';
  const answer = (await ask?.(question))?.trim();
  return answer === "delete" || answer === "keep" ? answer : undefined;
}
