import type { Endpoint } from "../client";
import { describeUrl } from "../shared/url";
import { quoted } from "../shared/words";
import type { Doubt } from "./decide";
import type { Identity } from "./identity";
import { endpointsOf, type Leftover } from "./leftovers";

const MAX_NAMED = 5;

export function describeEndpoints(endpoints: readonly Pick<Endpoint, "id" | "createdAt">[]): string {
  const named = endpoints
    .slice(0, MAX_NAMED)
    .map(({ id, createdAt }) => `${id} (created ${createdAt ?? "at an unknown time"})`);
  const rest = endpoints.length - named.length;
  return `${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/**
 * Says what is in doubt, and the ways on: the same words in `pulumi up`, `doctor` and `recover`.
 *
 * @param options.isReplacement whether the resource has an endpoint already: then adoptId has no effect
 * @param options.withStack names the stack in a command line. Default: the command acts on the selected stack
 */
export function describeDoubt(
  identity: Identity,
  doubt: Doubt,
  {
    isReplacement = false,
    withStack = (command) => command,
  }: { isReplacement?: boolean; withStack?: (command: string) => string } = {},
): string {
  const [{ id } = { id: "" }] = doubt.candidates;
  const ways = [
    ...(isReplacement ? [] : [`if the endpoint is this resource's, set adoptId: ${JSON.stringify(id)}`]),
    'to register another one on purpose, set ifExists: "register" for one run',
    `to delete it, or say that it is somebody else's, run \`${withStack("npx pulumi-webhook-endpoints recover")}\``,
  ];
  return `${describeCandidates(identity, doubt)} Nothing was registered or changed. Ways on: ${ways.join("; ")}.`;
}

/** Says what a deleted resource leaves, because it is in doubt. */
export function describeSpared(identity: Identity, doubt: Doubt, what = "The resource is deleted"): string {
  return (
    `${describeCandidates(identity, doubt)} ${what}, and these endpoints are left. If one is this resource's, delete ` +
    `it with \`npx pulumi-webhook-endpoints delete ${quoted(doubt.candidates[0]?.id ?? "")}\`.`
  );
}

function describeCandidates({ url }: Identity, { candidates, why }: Doubt): string {
  return `an interrupted run may have registered ${describeUrl(url)}: ${describeEndpoints(candidates)}. It is not certain, because ${why}.`;
}

/** Says that a list is partial and shows nothing, and the ways on. */
export function describeUnknowable({ url }: Identity): string {
  return (
    `cannot tell whether the registration of ${describeUrl(url)} succeeded, because the service lists only a part of its endpoints. ` +
    "It stays pending. Look for the endpoint at the service. If it is there, set adoptId to its id. If not, set ifExists: " +
    '"register" for one run, which registers another one.'
  );
}

/** Names leftovers in one line. @param withStack as in `describeDoubt` */
export function describeLeftovers(
  leftovers: readonly Leftover[],
  withStack = (command: string) => command,
): string {
  const endpoints = leftovers.flatMap(({ decision }) => endpointsOf(decision));
  return (
    `an interrupted run registered, or may have registered, what no resource of this stack has: ${describeEndpoints(endpoints)}. \`${withStack("pulumi up")}\` takes over ` +
    `what the program still declares. \`${withStack("npx pulumi-webhook-endpoints recover")}\` deletes the rest, after a question.`
  );
}

export function describeUnread(problem: string): string {
  return (
    `the state of this stack cannot be read (${problem}), so this run does not see what interrupted runs on other machines registered. ` +
    "`pulumi` must be on PATH, and in Pulumi Cloud the stack in the default organization."
  );
}
