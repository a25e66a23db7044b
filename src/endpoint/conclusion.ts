import type { Endpoint } from "../client";
import type { Doubt } from "../settlement/decide";
import type { Identity } from "../settlement/identity";
import type { Outcome } from "../settlement/settle";
import { describeDoubt, describeUnknowable } from "../settlement/words";
import { describeUrl } from "../shared/url";
import { EndpointError, runCancelled } from "./errors";

/** Returns what a settlement found, or what is in doubt; undefined when nothing was made. @throws EndpointError when that is not known */
export function conclusionOf(outcome: Outcome | undefined, wanted: Identity) {
  switch (outcome?.kind) {
    case "found":
    case "doubt":
      return outcome;
    case "unknowable":
      throw new EndpointError("STILL_PENDING", describeUnknowable(wanted));
    case "cancelled":
      throw runCancelled();
    default:
      return undefined;
  }
}

export function inDoubt(wanted: Identity, doubt: Doubt, options?: { isReplacement: boolean }): EndpointError {
  return new EndpointError("REGISTRATION_IN_DOUBT", describeDoubt(wanted, doubt, options));
}

export function notRegistered({ url }: Identity, { id }: Endpoint): EndpointError {
  return new EndpointError(
    "ENDPOINT_EXISTS",
    `the service answered the registration of ${describeUrl(url)} with ${id}, which was there before. It keeps one endpoint for each url, ` +
      `so nothing was registered. If ${id} is to be this resource's, set adoptId: ${JSON.stringify(id)}. If another resource has it, declare ` +
      "the url only once.",
  );
}
