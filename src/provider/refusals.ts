import type { Endpoint, WebhookError } from "../client";
import { describeUrl, sameUrl } from "../shared/url";
import { commandLine, countOf } from "../shared/words";
import type { Decision, Named, Wanted } from "./decide";
import { EndpointError, reworded } from "./errors";

/** How many endpoints a message names. */
const MAX_NAMED = 5;

/**
 * Returns the error of a decision that stops a registration; undefined if it does not stop it. With `ifExists: "register"` none does.
 * Each names the ways on, one a line.
 *
 * @param problem why the stack's state does not count, if so
 */
export function refusalOf(decision: Decision, wanted: Wanted, problem?: string): EndpointError | undefined {
  if (wanted.ifExists === "register") return undefined;
  switch (decision.kind) {
    case "doubt":
      return new EndpointError(
        "REGISTRATION_IN_DOUBT",
        `${describeDoubt(wanted, decision)} Nothing was registered or changed. Ways on:\n${waysOn(decision.endpoints, wanted)}`,
      );
    case "exists":
      return new EndpointError(
        "ENDPOINT_EXISTS",
        `the service already has ${decision.endpoints.length === 1 ? "an endpoint" : `${decision.endpoints.length} endpoints`} for ${describeUrl(wanted.url)} (${wanted.type}) that no ` +
          `resource of this stack has: ${describeEndpoints(decision.endpoints)}. In all, this stack has no resource for ${countOf(decision.left, "endpoint")} of the account. ` +
          `Nothing was registered. ${uncountedNote(problem)}Ways on:\n${waysOn(decision.endpoints, wanted)}`,
      );
    case "unknowable":
      return stillPending(wanted);
    default:
      return undefined;
  }
}

/** Returns the error for a registration without a response that a partial list does not show. */
export function stillPending({ url }: Wanted): EndpointError {
  return new EndpointError(
    "STILL_PENDING",
    `cannot tell whether an earlier registration of ${describeUrl(url)} succeeded, because the service lists only a part of its ` +
      "endpoints, or some that cannot be read. Nothing was registered or changed. Look for the endpoint at the service. Ways on:\n" +
      "- If it is there, set adoptId to its id.\n" +
      '- If it is not, set ifExists: "register" for one run, which registers another one.',
  );
}

/** Returns the error for a second registration of a url and type while another one of this run has no response. */
export function otherIpPending({ url }: Wanted): EndpointError {
  return new EndpointError(
    "STILL_PENDING",
    `${describeUrl(url)} was not registered: a registration with the same url and type, and another ip, got no usable response in this run. ` +
      "Run the same command again.",
  );
}

/**
 * Returns the error for a pending resource that changes its provider, between accounts or between the dynamic provider and the native
 * plugin. The one that it leaves runs in a process of its own, which does not know what this one took over, and would delete that.
 */
export function mustNotMove({ url }: Pick<Wanted, "url">): EndpointError {
  return new EndpointError(
    "STILL_PENDING",
    `the registration of ${describeUrl(url)} got no usable response yet, so the resource cannot move to another provider. Run ` +
      "`pulumi refresh`, which settles it, and then `pulumi up` again. Nothing was changed.",
  );
}

/** Returns the error for a service that keeps one endpoint for each url and answered a registration with the one that it has. */
export function notRegistered({ url }: Wanted, { id }: Named): EndpointError {
  return new EndpointError(
    "ENDPOINT_EXISTS",
    `the service answered the registration of ${describeUrl(url)} with endpoint ${id}, which was there before: it keeps one endpoint for ` +
      `each url. If no other resource has it, set adoptId: ${JSON.stringify(id)}. Otherwise declare another url.`,
  );
}

/** Returns the refusal of a registration. If the url may be why, because an endpoint has it, it says so. */
export function refusedBeside(
  listed: readonly Endpoint[],
  { url }: Wanted,
  error: WebhookError,
): WebhookError {
  const found = listed.find((each) => sameUrl(each.url, url));
  if (found === undefined || (error.statusCode !== 409 && error.statusCode !== 422)) return error;
  return reworded(
    error,
    `${error.detail} Endpoint ${found.id} (${found.type}) has this url, and some services keep one endpoint for each url. If ${found.id} is ` +
      "this resource's, which a replacement deletes only afterwards, set deleteBeforeReplace: true in the resource's options.",
  );
}

/** Says what a resource takes over with `ifExists: "adopt"`. */
export function adopts({ id, url }: Endpoint): string {
  return `adopts ${id} (${describeUrl(url)})`;
}

/** Says what an earlier run may have registered, and why that is not certain. */
export function describeDoubt(
  { url }: Pick<Wanted, "url">,
  doubt: Extract<Decision, { kind: "doubt" }>,
): string {
  return (
    `an earlier run may have registered ${describeUrl(url)}: ${describeEndpoints(doubt.endpoints)}. It is not certain, because ` +
    `${doubt.why}.`
  );
}

/** Says what the deletion of a pending resource leaves, because it is in doubt. */
export function describeSpared(wanted: Wanted, doubt: Extract<Decision, { kind: "doubt" }>): string {
  const [{ id } = { id: "" }] = doubt.endpoints;
  return (
    `${describeDoubt(wanted, doubt)} The resource is deleted, and these endpoints are left. If one is this resource's, delete it with ` +
    `${commandLine("delete", id)}.`
  );
}

function describeEndpoints(endpoints: readonly Named[]): string {
  const named = endpoints
    .slice(0, MAX_NAMED)
    .map(({ id, createdAt }) => `${id} (created ${createdAt ?? "at an unknown time"})`);
  const rest = endpoints.length - named.length;
  return `${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function waysOn(endpoints: readonly Named[], { ifExists }: Wanted): string {
  const [{ id } = { id: "" }] = endpoints;
  const isOne = endpoints.length === 1;
  return [
    `- If ${isOne ? "it" : "one of them"} is this resource's, set adoptId${isOne ? `: ${JSON.stringify(id)}` : " to its id"}. (A resource that ` +
      "has another endpoint already also needs another name, without an alias.)",
    ifExists === "adopt"
      ? '- ifExists: "adopt" takes over the only endpoint with this url and type, if the service lists all of its endpoints: delete what nobody needs.'
      : "- To take over everything that exists and this program declares, run `WEBHOOKS_IF_EXISTS=adopt pulumi up` (in a pipeline with --yes), without an edit.",
    `- If another stack has it (${commandLine("get", id, " --all")} tells), move that resource here with \`pulumi state move\`, or declare another url ` +
      "or type.",
    `- If nobody needs it, delete it with ${commandLine("delete", id)} (in a pipeline with --yes): after a kill, once another way on has settled what is in doubt.`,
    '- To register another one on purpose, set ifExists: "register" for one run. Each event is then delivered to both.',
  ].join("\n");
}

function uncountedNote(problem: string | undefined): string {
  if (problem === undefined) return "";
  return `(${problem} So it may be this stack's own, as after a rename without an alias.) `;
}
