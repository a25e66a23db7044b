import {
  type Deployment,
  interruptedRegistrations,
  nameOf,
  plainText,
  type Resource,
} from "../../endpoint/deployment";
import { keyOf } from "../../endpoint/identity";
import type { Origin } from "../../endpoint/origin";
import { isEndpointType } from "../../endpoint/permanent";
import { isProvisional } from "../../endpoint/state";
import { describeUrl } from "../../endpoint/url";
import { describeOwner, type Inventory } from "../inventory";
import type { Stacks } from "../stacks";
import { error, type Finding, note } from "./finding";

/** The output that a receiver reads by default. */
const RECEIVER_OUTPUT = "receiver";
/** How many ids a message names. */
const MAX_NAMED = 5;

/** Finds what the states alone show. */
export function stackFindings({ known, unreadable }: Stacks): Finding[] {
  return [
    ...unreadable.map(({ what, why }) =>
      error(
        "STACK_UNREADABLE",
        `cannot read ${what}: ${why}`,
        "Follow Pulumi's message. Until then, ownership is incomplete.",
      ),
    ),
    ...known.flatMap(({ name, deployment }) => [
      ...unfinished(name, deployment),
      ...receiverOutput(name, deployment),
    ]),
  ];
}

function unfinished(stack: string, deployment: Deployment): Finding[] {
  const interrupted = interruptedRegistrations(deployment).map((resource) =>
    error(
      "REGISTRATION_INTERRUPTED",
      `a run was interrupted while it registered ${describeOwner(resource)}`,
      `Run \`pulumi up --stack ${stack}\`, which takes over what was registered, or \`npx webhook-endpoints recover --stack ${stack}\`.`,
    ),
  );
  const pending = endpointsOf(deployment).filter(({ id = "" }) => isProvisional(id));
  return [
    ...interrupted,
    ...pending.map((resource) =>
      error(
        "REGISTRATION_PENDING",
        `the registration of ${describeOwner(resource)} got no answer`,
        `Run \`pulumi up --stack ${stack}\` again, which settles it.`,
      ),
    ),
    ...(deployment.pending_operations ?? [])
      .filter(({ type, resource }) => type !== "creating" && isEndpointType(resource.type))
      .map(({ type, resource }) =>
        error(
          "OPERATION_INTERRUPTED",
          `a run was interrupted while it was ${type} ${describeOwner(resource)}`,
          `Run \`pulumi refresh --stack ${stack}\`, then \`pulumi up --stack ${stack}\`.`,
        ),
      ),
  ];
}

function receiverOutput(stack: string, deployment: Deployment): Finding[] {
  const root = deployment.resources?.find(({ type }) => type === "pulumi:pulumi:Stack");
  if (endpointsOf(deployment).length === 0 || root?.outputs?.[RECEIVER_OUTPUT] !== undefined) return [];
  return [
    note(
      "RECEIVER_OUTPUT_MISSING",
      `the stack ${stack} has endpoints and no output "${RECEIVER_OUTPUT}"`,
      "If its receivers take their secrets from the stack, export receiverConfig(…) under this name.",
    ),
  ];
}

/** Compares what the selected stack recorded with today's settings. @param inventory absent when the service did not answer */
export function originFindings(
  { known }: Stacks,
  origin: Origin,
  inventory: Inventory | undefined,
): Finding[] {
  const selected = known.find(({ isSelected }) => isSelected);
  if (selected === undefined) return [];
  const recorded = endpointsOf(selected.deployment).filter(
    ({ outputs, external }) => external !== true && outputs?.provider === undefined,
  );
  const listed = new Set(inventory?.list.endpoints.map(({ id }) => id));
  const isGone = ({ id = "" }: Resource) => inventory?.list.complete === true && !listed.has(id);
  const otherUrl = recorded.filter(
    ({ outputs }) => (plainText(outputs, "baseUrl") ?? origin.baseUrl) !== origin.baseUrl,
  );
  const otherKey = recorded.filter(
    (each) =>
      !otherUrl.includes(each) && (plainText(each.outputs, "account") ?? origin.account) !== origin.account,
  );
  const findings: Finding[] = [];
  if (otherUrl.length > 0) {
    const report = otherUrl.some(isGone) ? error : note;
    const before = plainText(otherUrl[0]?.outputs, "baseUrl") ?? "";
    findings.push(
      report(
        "OTHER_BASE_URL",
        `${named(otherUrl)} of the stack ${selected.name} registered at ${before}, and the base URL is now ${origin.baseUrl}`,
        "If the service has moved, run `pulumi up`. Otherwise restore webhooks:baseUrl.",
      ),
    );
  }
  if (otherKey.length > 0) {
    const report = otherKey.some(isGone) ? error : note;
    findings.push(
      report(
        "OTHER_KEY",
        `${named(otherKey)} of the stack ${selected.name} registered with the key ${plainText(otherKey[0]?.outputs, "account")}, and the key is now ${origin.account}`,
        "If you rotated the key, run `pulumi up`, which records the new one, before `pulumi refresh` or `destroy`. If it belongs to another account, restore webhooks:apiKey.",
      ),
    );
  }
  return findings;
}

/** Finds what the endpoints at the service show. */
export function endpointFindings({ entries, list, stacks }: Inventory): Finding[] {
  const findings: Finding[] = [];
  if (!list.complete)
    findings.push(
      error(
        "LIST_PARTIAL",
        "the service lists only a part of its endpoints",
        "A lost registration can't be settled then. Ask the service's operator for a complete list.",
      ),
    );
  if (stacks.known.length === 0 || stacks.unreadable.length > 0) return findings;
  const managed = new Map(
    entries.flatMap(({ endpoint, manager }) =>
      manager === undefined ? [] : [[keyOf(endpoint), manager] as const],
    ),
  );
  const unmanaged = entries.filter(({ manager }) => manager === undefined);
  for (const { endpoint, registration } of unmanaged) {
    if (registration !== undefined) continue;
    const manager = managed.get(keyOf(endpoint));
    if (manager !== undefined)
      findings.push(
        error(
          "DUPLICATE",
          `${endpoint.id} has the same url (${describeUrl(endpoint.url)}) and type as ${describeOwner(manager)}, so each event is delivered twice`,
          "If nothing else needs it, delete it at the service.",
        ),
      );
  }
  if (unmanaged.length > 0)
    findings.push(
      note(
        "UNMANAGED",
        `no stack manages ${joined(unmanaged.map(({ endpoint }) => endpoint.id))}`,
        "See them with `npx webhook-endpoints list --orphans`. Take them over with `adopt`, or delete old ones with `prune`.",
      ),
    );
  return findings;
}

function endpointsOf({ resources = [] }: Deployment): Resource[] {
  return resources.filter(({ type }) => isEndpointType(type));
}

function named(resources: readonly Resource[]): string {
  return `${joined(resources.map(({ urn }) => nameOf(urn)))} ${resources.length === 1 ? "was" : "were"}`;
}

function joined(names: readonly string[]): string {
  return `${names.slice(0, MAX_NAMED).join(", ")}${names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ""}`;
}
