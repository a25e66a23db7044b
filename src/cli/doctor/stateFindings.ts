import {
  type Deployment,
  endpointsIn,
  interruptedRegistrations,
  pendingResources,
  plainText,
  providerNameOf,
  type Resource,
  stackIn,
} from "../../settlement/deployment";
import { isOvertaken } from "../../settlement/operations";
import { isEndpointToken } from "../../shared/permanent";
import { describeResource, nameOf } from "../../shared/urn";
import type { Inventory } from "../inventory/inventory";
import type { KnownStack, ReadStacks } from "../inventory/stacks";
import type { Account } from "../service";
import { joined } from "../text";
import { error, type Finding, note, remedyFor } from "./finding";
import { missingFrom } from "./goneFindings";

/** The output that a receiver reads by default. */
const RECEIVER_OUTPUT = "receiver";

/** Finds what the states alone show. */
export function stackFindings({ known, unreadable }: ReadStacks): Finding[] {
  return [
    ...unreadable.map(({ what, why }) =>
      error(
        "STACK_UNREADABLE",
        `cannot read ${what}: ${why}`,
        "Follow the message. Until then, ownership is incomplete. --project-only leaves the other projects of the backend out.",
      ),
    ),
    ...known.flatMap((stack) => [
      ...operations(stack).map((each) => ({ ...each, remedy: remedyFor(stack, each.remedy) })),
      ...receiverOutput(stack),
    ]),
  ];
}

function operations({ name: stack, deployment }: KnownStack): Finding[] {
  const unlock = `If the run was killed, first run \`pulumi cancel --stack ${stack}\`, which removes its lock.`;
  const registrations = interruptedRegistrations(deployment);
  const healed = registrations.filter((each) => isOvertaken(each, deployment, { secretsDiffer: false }));
  const interrupted = registrations.filter((operation) => !healed.includes(operation));
  return [
    ...interrupted.map((resource) =>
      error(
        "REGISTRATION_INTERRUPTED",
        `a run was interrupted while it registered ${describeResource(resource)}`,
        `${unlock} Then run \`pulumi up --stack ${stack}\`, which takes over what was registered, or \`npx pulumi-webhook-endpoints recover --stack ${stack}\`.`,
      ),
    ),
    ...(healed.length === 0 ? [] : [settledFinding(stack, healed, deployment)]),
    ...pendingResources(deployment).map((resource) =>
      error(
        "REGISTRATION_PENDING",
        `the registration of ${describeResource(resource)} got no answer`,
        `Run \`pulumi up --stack ${stack}\` again, which settles it.`,
      ),
    ),
    ...(deployment.pending_operations ?? [])
      .filter(({ type, resource }) => type !== "creating" && isEndpointToken(resource.type))
      .map(({ type, resource }) =>
        error(
          "OPERATION_INTERRUPTED",
          `a run was interrupted while it was ${type} ${describeResource(resource)}`,
          `${unlock} Then run \`pulumi refresh --stack ${stack}\`, and after it the command that was interrupted, such as \`pulumi up --stack ${stack}\`.`,
        ),
      ),
  ];
}

function settledFinding(stack: string, healed: readonly Resource[], deployment: Deployment): Finding {
  const clear = `\`pulumi refresh --stack ${stack} --clear-pending-creates --yes\`, which ends the warning.`;
  // The state encrypts equal urls differently.
  const isSure = healed.every((each) => isOvertaken(each, deployment));
  return note(
    "OPERATIONS_SETTLED",
    `a run was interrupted while it registered ${joined(healed.map(describeResource))}, which the state has` +
      `${isSure ? "" : ", perhaps with another url, which is a secret"}; Pulumi still warns of it`,
    isSure ? `Run ${clear}` : `Run \`pulumi up --stack ${stack}\` if the url has changed, and then ${clear}`,
  );
}

function receiverOutput({ name: stack, deployment }: KnownStack): Finding[] {
  const root = stackIn(deployment);
  if (endpointsIn(deployment).length === 0 || root?.outputs?.[RECEIVER_OUTPUT] !== undefined) return [];
  return [
    note(
      "RECEIVER_OUTPUT_MISSING",
      `the stack ${stack} has endpoints and no output "${RECEIVER_OUTPUT}"`,
      "If its receivers take their secrets from the stack, export receiverConfig(…) under this name.",
    ),
  ];
}

interface OriginOptions {
  /** Absent when the service did not answer. */
  readonly inventory: Inventory | undefined;
  /** The current one as it may be printed: null for a secret. */
  readonly baseUrl: string | null;
}

/** Compares what the selected stack recorded with today's settings. */
export function originFindings(
  { known }: ReadStacks,
  { origin, withStack }: Pick<Account, "origin" | "withStack">,
  { inventory, baseUrl }: OriginOptions,
): Finding[] {
  const selected = known.find(({ isSelected }) => isSelected);
  if (selected === undefined) return [];
  const recorded = endpointsIn(selected.deployment).filter(
    (each) => each.external !== true && providerNameOf(each) === undefined,
  );
  const otherUrl = recorded.filter(
    ({ outputs }) => (plainText(outputs, "baseUrl") ?? origin.baseUrl) !== origin.baseUrl,
  );
  const otherKey = recorded.filter(
    (each) =>
      !otherUrl.includes(each) && (plainText(each.outputs, "account") ?? origin.account) !== origin.account,
  );
  // If the current one is a secret, the one before may have been one.
  const where =
    baseUrl === null
      ? "at another base URL than the current one, which is a secret"
      : `at ${plainText(otherUrl[0]?.outputs, "baseUrl")}, not at the current base URL (${origin.baseUrl})`;
  /** If the service lacks some of the endpoints, the finding is about those, and an error. */
  const compared = (
    code: "OTHER_BASE_URL" | "OTHER_KEY",
    among: readonly Resource[],
    how: string,
    remedy: string,
  ) => {
    if (among.length === 0) return [];
    const missing = inventory === undefined ? [] : missingFrom(inventory.list, among);
    const message = (named: readonly Resource[]) => `${registered(named, selected.name)} ${how}`;
    if (missing.length === 0) return [note(code, message(among), remedy)];
    return [
      error(
        code,
        `${message(missing)}, and the service doesn't list ${missing.length === 1 ? "it" : "them"}`,
        remedy,
      ),
    ];
  };
  return [
    ...compared(
      "OTHER_BASE_URL",
      otherUrl,
      where,
      `If the service has moved, run \`${withStack("pulumi up")}\`. Otherwise restore webhooks:baseUrl.`,
    ),
    ...compared(
      "OTHER_KEY",
      otherKey,
      `with the key ${plainText(otherKey[0]?.outputs, "account")}, not with the current one (${origin.account})`,
      `If you rotated the key, run \`${withStack("pulumi up")}\` before \`${withStack("pulumi refresh")}\` or \`${withStack("destroy")}\`. The refresh records the new key in the state, which ends this finding. If the new key belongs to another account, restore the old one with \`${withStack("pulumi config set --secret webhooks:apiKey")}\`, or in WEBHOOKS_API_KEY.`,
    ),
  ];
}

function registered(resources: readonly Resource[], stack: string): string {
  const names = joined(resources.map(({ urn }) => nameOf(urn)));
  return `${names} of the stack ${stack} ${resources.length === 1 ? "was" : "were"} registered`;
}
