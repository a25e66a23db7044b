import type { Endpoint, WebhookError } from "../../client";
import { commandLine } from "../../shared/commandLine";
import { foreign } from "../../shared/escape";
import { describeUrl, sameUrl } from "../../shared/url";
import { countOf, MOST_NAMES } from "../../shared/words";
import { EndpointError, reworded } from "../errors";
import type { Declarations } from "../facts/declarations";
import type { Wanted } from "../facts/exportedState";
import { describeOwner, howToHandOver, isOtherType } from "../facts/owner";
import type { IfExists } from "../settings";
import type { Shown, Stop } from "./decide";
import { shownStored } from "./shownStoredUrl";
import { adoptIdOf, type SettledFor, setAdoptId, setRegister, waysOn } from "./waysOn";

/** What a refusal depends on besides the decision. */
interface Circumstances {
  /** Why the stack's state did not count, if it did not: a sentence. */
  readonly whyWithoutState?: string | undefined;
  readonly settledFor?: SettledFor;
}

/** Returns the error of a stop. It names the ways on: what the user can do now, one a line. */
export function refusalOf(
  stop: Stop,
  wanted: Wanted & { readonly ifExists?: IfExists | undefined },
  { declarations }: { readonly declarations: Declarations },
  { whyWithoutState, settledFor }: Circumstances = {},
): EndpointError {
  switch (stop.kind) {
    case "missing":
      return new EndpointError(
        "NOT_FOUND",
        `cannot adopt endpoint ${foreign(stop.id)}: the service has no endpoint with this id. Correct adoptId, or remove it to register a new one.`,
      );
    case "mismatch":
      return mismatch(stop.endpoint, wanted, declarations);
    case "taken":
      return taken(stop, whyWithoutState);
    case "doubt": {
      const isEqual = stop.endpoints.every(({ url }) => sameUrl(url, wanted.url));
      return new EndpointError(
        "REGISTRATION_IN_DOUBT",
        `${describeDoubt(wanted, stop)} Nothing was registered or changed. Ways on:`,
        { ways: waysOn(stop.endpoints, wanted, { isEqual, settledFor }) },
      );
    }
    case "exists":
      return exists(stop, wanted, whyWithoutState);
    case "unknowable":
      return stillPending(wanted, stop.isStale, settledFor);
  }
}

function mismatch({ id, url, type }: Endpoint, wanted: Wanted, declarations: Declarations): EndpointError {
  return new EndpointError(
    "ADOPT_MISMATCH",
    `cannot adopt endpoint ${foreign(id)}: the service has it with another url or type, ${shownStored(wanted.url, { id, url }, declarations)} (${type}). ` +
      "Declare the endpoint as it is, adopt it, and change it afterwards; or remove adoptId to register a new one.",
  );
}

function taken(
  { endpoint: { id }, owner }: Extract<Stop, { kind: "taken" }>,
  whyWithoutState: string | undefined,
): EndpointError {
  const source = whyWithoutState === undefined ? "" : `(${whyWithoutState}) `;
  const why = isOtherType(owner)
    ? `${describeOwner(owner)}. ${source}${howToHandOver(owner)}`
    : `another resource of this stack already has it. ${source}Name it in only one of them. If the resource was renamed, give it an alias of its ` +
      "old name instead of adoptId.";
  return new EndpointError("ADOPT_TAKEN", `cannot adopt endpoint ${foreign(id)}: ${why}`);
}

function exists(
  { endpoints, left, owner }: Extract<Stop, { kind: "exists" }>,
  wanted: Wanted & { readonly ifExists?: IfExists | undefined },
  whyWithoutState: string | undefined,
): EndpointError {
  const has = `the service already has ${endpoints.length === 1 ? "an endpoint" : `${endpoints.length} endpoints`} for ${describeUrl(wanted.url)} (${wanted.type})`;
  if (owner !== undefined)
    return new EndpointError(
      "ENDPOINT_EXISTS",
      `${has}: ${describeEndpoints(endpoints)}. Nothing was registered, because ${describeOwner(owner)}. ${howToHandOver(owner)} To register another one on purpose, set ` +
        'ifExists: "register" for one run. Each event is then delivered to both.',
    );
  return new EndpointError(
    "ENDPOINT_EXISTS",
    `${has} that no resource of this stack has: ${describeEndpoints(endpoints)}. In all, this stack has no resource for ` +
      `${countOf(left, "endpoint")} of the account. Nothing was registered. ${noteOn(whyWithoutState)}Ways on:`,
    { ways: waysOn(endpoints, wanted) },
  );
}

/**
 * Returns the error for a list that cannot tell whether an endpoint is there: it is partial, has rows that cannot be read, or is stale.
 *
 * @param isStale whether a get has shown that it is
 */
function stillPending({ url }: Wanted, isStale: boolean, settledFor: SettledFor): EndpointError {
  const [why, first] = isStale
    ? [
        "the list of the service is stale: it lacks endpoints that the service has",
        ["Run the same command again in a while."],
      ]
    : ["the service lists only a part of its endpoints, or some that cannot be read", []];
  return new EndpointError(
    "STILL_PENDING",
    `cannot tell whether there is an endpoint for ${describeUrl(url)} already, because ${why}. Nothing was registered or changed. Look for the ` +
      "endpoint at the service. Ways on:",
    {
      ways: [
        ...first,
        ...(settledFor === "delete"
          ? ["Delete it there, if there is one, and run `pulumi state delete` for the resource."]
          : [
              `If it is there, ${setAdoptId(" to its id", settledFor)}.`,
              `If it is not, ${setRegister(settledFor)}, which registers another one.`,
            ]),
      ],
    },
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
export function notRegistered({ url }: Wanted, { id }: Shown): EndpointError {
  return new EndpointError(
    "ENDPOINT_EXISTS",
    `the service answered the registration of ${describeUrl(url)} with endpoint ${foreign(id)}, which was there before: it keeps one endpoint for ` +
      `each url. If no other resource has it, set adoptId${adoptIdOf(id)}. Otherwise declare another url.`,
  );
}

/**
 * Returns the error of a registration that certainly made nothing: it was refused, or never sent. If it was refused, and an endpoint with its url
 * may be why, it says so.
 */
export function notMadeBeside(
  listed: readonly Endpoint[],
  { url }: Wanted,
  error: WebhookError,
): WebhookError {
  const found = listed.find((each) => sameUrl(each.url, url));
  if (found === undefined || (error.statusCode !== 409 && error.statusCode !== 422)) return error;
  return reworded(
    error,
    `${error.detail} Endpoint ${foreign(found.id)} (${found.type}) has this url, and some services keep one endpoint for each url. If ${foreign(found.id)} is ` +
      "this resource's, which a replacement deletes only afterwards, set deleteBeforeReplace: true in the resource's options.",
  );
}

/** Says what a resource adopts. */
export function adopts({ id, url }: Endpoint): string {
  return `adopts ${foreign(id)} (${describeUrl(url)})`;
}

/** Says what an earlier run may have registered, and why that is not certain. */
export function describeDoubt({ url }: Pick<Wanted, "url">, doubt: Extract<Stop, { kind: "doubt" }>): string {
  return (
    `an earlier run may have registered ${describeUrl(url)}: ${describeEndpoints(doubt.endpoints)}. It is not certain, because ` +
    `${doubt.why}.`
  );
}

/** Says what the deletion of a pending resource leaves, because it is in doubt. */
export function describeSpared(wanted: Wanted, doubt: Extract<Stop, { kind: "doubt" }>): string {
  const [{ id } = { id: "" }] = doubt.endpoints;
  return (
    `${describeDoubt(wanted, doubt)} The resource is deleted, and these endpoints are left. If one is this resource's, delete it with ` +
    `${commandLine("delete", id)}.`
  );
}

function describeEndpoints(endpoints: readonly Shown[]): string {
  const named = endpoints
    .slice(0, MOST_NAMES)
    .map(({ id, createdAt }) => `${foreign(id)} (created ${foreign(createdAt ?? "at an unknown time")})`);
  const rest = endpoints.length - named.length;
  return `${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function noteOn(whyWithoutState: string | undefined): string {
  if (whyWithoutState === undefined) return "";
  return `(${whyWithoutState} So it may be this stack's own, as after a rename without an alias.) `;
}
