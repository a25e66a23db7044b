import { type Endpoint, WebhookEndpointNotFoundError } from "../client";
import { sameUrl } from "../shared/url";
import type { Context } from "./context";
import type { Question } from "./decide";
import { EndpointError } from "./errors";
import type { EndpointInputs } from "./state";
import { shownStored } from "./storedUrl";

/**
 * Adopts the endpoint that the user named: exactly that one. Nothing changes at the service.
 *
 * @throws EndpointError `NOT_FOUND`, `ADOPT_MISMATCH` or `ADOPT_TAKEN`
 */
export async function adopt(
  id: string,
  inputs: EndpointInputs,
  { service, stack, memory }: Context,
  isOwned: Question["isOwned"],
): Promise<Endpoint> {
  const endpoint = await service.get(id).catch((error: unknown) => {
    if (!(error instanceof WebhookEndpointNotFoundError)) throw error;
    throw new EndpointError(
      "NOT_FOUND",
      `cannot adopt endpoint ${id}: the service has no endpoint with this id. Correct adoptId, or remove it to register a new one.`,
      { cause: error },
    );
  });
  if (!sameUrl(endpoint.url, inputs.url) || endpoint.type !== inputs.type)
    throw new EndpointError(
      "ADOPT_MISMATCH",
      `cannot adopt endpoint ${id}: the service has it with another url or type, ${shownStored(inputs.url, endpoint, memory)} (${endpoint.type}). ` +
        "Declare the endpoint as it is, adopt it, and change it afterwards; or remove adoptId to register a new one.",
    );
  if (isOwned(endpoint)) {
    const isCertain = memory.holds(id) || (await stack.isProven(inputs));
    throw new EndpointError(
      "ADOPT_TAKEN",
      `cannot adopt endpoint ${id}: another resource of this stack already has it. ${isCertain ? "" : `(${stack.problem}) `}Name it in only ` +
        "one of them. If the resource was renamed, give it an alias of its old name instead of adoptId.",
    );
  }
  return endpoint;
}
