import type { EndpointList } from "../../client";
import { isPendingId } from "../../provider/identity";
import { providerNameOf, type Resource } from "../../provider/stackState";
import type { Origin } from "../../shared/permanent";
import { describeResource, nameOf } from "../../shared/urn";
import { quoted } from "../../shared/words";
import type { Inventory } from "../inventory/inventory";
import type { KnownStack, Stacks } from "../inventory/stacks";
import { joined } from "../text";
import { type Finding, finding } from "./findings";

/** The output that a receiver reads by default. */
const RECEIVER_OUTPUT = "receiver";

/** Finds what the states show about the stacks of this project, each of which has its own remedies. */
export function stackFindings(stacks: Stacks, inventory: Inventory | undefined): Finding[] {
  const { known, unreadable, absence } = stacks;
  return [
    ...(absence === undefined
      ? []
      : [
          finding(
            "note",
            "NO_STACK",
            `no stack was looked into, because ${absence}`,
            "pulumi stack ls   # in the folder of a Pulumi program",
          ),
        ]),
    ...unreadable.map(({ what, why }) =>
      finding(
        "error",
        "STACK_UNREADABLE",
        `${what} cannot be read: ${why}. Until it can, nothing is deleted or adopted`,
        what.startsWith("the stack ")
          ? `pulumi stack export --stack ${quoted(what.slice("the stack ".length))}`
          : "pulumi stack ls --all",
      ),
    ),
    ...known
      .filter(({ isOwn }) => isOwn)
      .flatMap((stack) => [...runFindings(stack, inventory), ...outputFindings(stack)]),
  ];
}

/** Finds what interrupted runs left, and names what they may have made. */
function runFindings({ name, state, deployment }: KnownStack, inventory: Inventory | undefined): Finding[] {
  const stack = quoted(name);
  const { interrupted } = state;
  const pending = state.endpoints.filter(({ id = "" }) => isPendingId(id));
  const others = deployment.pending_operations.filter(({ resource }) => !interrupted.includes(resource));
  const made = (inventory?.entries ?? []).filter(
    ({ owner }) => owner.kind === "pending" && owner.by.stack.name === name,
  );
  const which =
    made.length === 0 ? "" : `, and may have made ${joined(made.map(({ endpoint }) => endpoint.id))}`;
  const found: [resources: readonly Resource[], ...Parameters<typeof finding>][] = [
    [
      pending,
      "error",
      "REGISTRATION_PENDING",
      `the registration of ${describeAll(pending)} got no answer${which}`,
      `pulumi up --stack ${stack}   # takes over what was registered, and registers what was not`,
    ],
    [
      interrupted,
      "error",
      "OPERATION_INTERRUPTED",
      `a run was interrupted while it registered ${describeAll(interrupted)}${which}`,
      `pulumi up --stack ${stack}   # first pulumi cancel, if the stack is locked; if this stays, pulumi refresh --clear-pending-creates`,
    ],
    [
      others.map(({ resource }) => resource),
      others.every(({ type }) => type === "creating") ? "note" : "error",
      "OPERATION_INTERRUPTED",
      `the state still has unfinished operations on ${describeAll(others.map(({ resource }) => resource))}`,
      `pulumi refresh --clear-pending-creates --yes --stack ${stack}   # then run again what was interrupted`,
    ],
  ];
  return found.flatMap(([resources, ...given]) => (resources.length === 0 ? [] : [finding(...given)]));
}

function outputFindings({ name, deployment, outputs }: KnownStack): Finding[] {
  if (deployment.resources.length === 0 || outputs.includes(RECEIVER_OUTPUT)) return [];
  return [
    finding(
      "note",
      "RECEIVER_OUTPUT_MISSING",
      `the stack ${name} has endpoints and no output "${RECEIVER_OUTPUT}", from which receivers, send and verify take their secrets`,
      `export const ${RECEIVER_OUTPUT} = receiverConfig({ secrets: [signingSecret] });   // in the program`,
    ),
  ];
}

/** Compares what the selected stack recorded with today's settings. */
export function accountFindings({ known }: Stacks, origin: Origin): Finding[] {
  const selected = known.find(({ isSelected }) => isSelected);
  const other = (selected?.state.endpoints ?? []).filter(
    (each) =>
      providerNameOf(each) === undefined && !isPendingId(each.id ?? "") && !isRecordedAt(each, origin),
  );
  const [first] = other;
  if (selected === undefined || first === undefined) return [];
  const { baseUrl, account } = first.outputs ?? {};
  const how =
    (baseUrl ?? origin.baseUrl) === origin.baseUrl
      ? `with another API key (fingerprint ${account}; today's is ${origin.account})`
      : `at ${baseUrl}, and webhooks:baseUrl is ${origin.baseUrl}`;
  return [
    finding(
      "error",
      "OTHER_ACCOUNT",
      `the stack ${selected.name} registered ${joined(other.map(({ urn }) => nameOf(urn)))} ${how}`,
      `pulumi up --stack ${quoted(selected.name)}   # if the key was rotated or the service moved; otherwise restore the setting`,
    ),
  ];
}

function isRecordedAt({ outputs = {} }: Resource, origin: Origin): boolean {
  const { baseUrl = origin.baseUrl, account = origin.account } = outputs;
  return baseUrl === origin.baseUrl && account === origin.account;
}

/** Returns the managed endpoints of this account that a list lacks. Only a complete list can show that. */
export function missingFrom(
  { endpoints, unrecognized, complete }: EndpointList,
  { known }: Stacks,
  origin: Origin,
): { readonly stack: KnownStack; readonly resource: Resource }[] {
  if (!complete) return [];
  const listed = new Set([...endpoints, ...unrecognized].map(({ id }) => id));
  return known
    .filter(({ isOwn }) => isOwn)
    .flatMap((stack) => stack.state.endpoints.map((resource) => ({ stack, resource })))
    .filter(
      ({ resource: { id = "", delete: isLeaving } }) =>
        !listed.has(id) && !isPendingId(id) && isLeaving !== true,
    )
    .filter(
      ({ resource }) =>
        resource.outputs?.baseUrl === origin.baseUrl && resource.outputs.account === origin.account,
    );
}

/** @param gone what the service confirmed to have no longer */
export function goneFindings(gone: ReturnType<typeof missingFrom>): Finding[] {
  return [...new Set(gone.map(({ stack }) => stack.name))].map((name) => {
    const names = gone.filter(({ stack }) => stack.name === name).map(({ resource }) => nameOf(resource.urn));
    return finding(
      "error",
      "ENDPOINT_GONE",
      `the service no longer has ${joined(names)}, which the stack ${name} manages`,
      `pulumi refresh --yes --stack ${quoted(name)} && pulumi up --stack ${quoted(name)}`,
    );
  });
}

function describeAll(resources: readonly Resource[]): string {
  return joined([...new Set(resources.map(describeResource))]);
}
