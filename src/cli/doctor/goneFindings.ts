import type { EndpointList } from "../../client";
import type { Clock } from "../../client/clock";
import type { Origin } from "../../endpoint/origin";
import { type Deployment, endpointsIn, plainText, type Resource } from "../../settlement/deployment";
import { isProvisional } from "../../settlement/identity";
import { LAG_MS, whileNew } from "../../settlement/lag";
import { nameOf } from "../../shared/urn";
import type { KnownStack } from "../inventory/stacks";
import type { Account } from "../service";
import { joined } from "../text";
import { error, type Finding, remedyFor } from "./finding";

/**
 * Finds the managed endpoints that the service no longer has. Only a complete list can show that, and only for what was
 * registered with today's base URL and key.
 *
 * @throws WebhookError
 */
export async function goneFindings(
  list: EndpointList,
  stacks: readonly KnownStack[],
  { account: { client, origin }, clock }: { readonly account: Account; readonly clock: Clock },
): Promise<Finding[]> {
  const suspects = stacks
    .map((stack) => ({ stack, missing: missingFrom(list, managedAt(origin, stack.deployment)) }))
    .filter(({ missing }) => missing.length > 0);
  if (suspects.length === 0) return [];
  // A run may have registered these after the first list was read, or just before, and a list lags.
  const isListed = (shown: EndpointList) =>
    suspects.every(({ missing }) => missingFrom(shown, missing).length === 0);
  const forMs = Math.max(...suspects.map(({ stack }) => newForMs(stack, clock.date())));
  const later = await whileNew(() => client.list(), isListed, { clock, forMs });
  return suspects.flatMap(({ stack, missing }) => {
    const gone = missingFrom(later, missing);
    return gone.length === 0 ? [] : [goneFinding(stack, gone)];
  });
}

/** Returns how much longer the service may not list what a stack's last run registered, in milliseconds. */
function newForMs({ deployment }: KnownStack, now: number): number {
  const age = now - Date.parse(deployment.manifest?.time ?? "");
  return age >= 0 && age < LAG_MS ? LAG_MS - age : 0;
}

/** An interrupted operation on an endpoint has a finding of its own, and the next `up` deletes what a replacement left behind. */
function managedAt({ baseUrl, account }: Origin, deployment: Deployment): Resource[] {
  const interrupted = new Set(deployment.pending_operations?.map(({ resource }) => resource.urn));
  return endpointsIn(deployment).filter(
    ({ urn, id = "", outputs, external, delete: isLeaving }) =>
      external !== true &&
      isLeaving !== true &&
      !isProvisional(id) &&
      !interrupted.has(urn) &&
      plainText(outputs, "baseUrl") === baseUrl &&
      plainText(outputs, "account") === account,
  );
}

/** Returns the resources whose endpoints a list lacks, which only a complete list can show. It may spell their ids in another case. */
export function missingFrom(
  { endpoints, unrecognized, complete }: EndpointList,
  resources: readonly Resource[],
): Resource[] {
  const listed = new Set([...endpoints, ...unrecognized].map(({ id }) => id.toLowerCase()));
  return complete ? resources.filter(({ id = "" }) => !listed.has(id.toLowerCase())) : [];
}

function goneFinding(stack: KnownStack, gone: readonly Resource[]): Finding {
  const { name } = stack;
  return error(
    "ENDPOINT_GONE",
    `the service no longer has ${joined(gone.map(({ urn }) => nameOf(urn)))}, which the stack ${name} manages`,
    remedyFor(
      stack,
      `Run \`pulumi refresh --stack ${name}\`, which drops what is gone from the state. Then \`pulumi up --stack ${name}\` registers it again.`,
    ),
  );
}
