import { isPendingId } from "../../provider/identity";
import { providerNameOf, type Resource } from "../../provider/stackState";
import type { Origin } from "../../shared/permanent";
import { describeResource, nameOf } from "../../shared/urn";
import { quoted } from "../../shared/words";
import type { Account } from "../account";
import type { KnownStack, Stacks } from "../inventory/stacks";
import { joined } from "../text";
import { type Finding, found, type Seen } from "./finding";

/** The output that a receiver reads by default. */
const RECEIVER_OUTPUT = "receiver";

/** Compares today's settings with how they are stored, and with what the selected stack recorded. */
export function* accountFindings(
  { configuration, origin }: Account,
  { pulumi, stacks: { known } }: Seen,
): Generator<Finding> {
  const { value, secret } = configuration?.["webhooks:apiKey"] ?? {};
  if (value && secret !== true)
    yield {
      level: "error",
      code: "SETTINGS_INVALID",
      message:
        "webhooks:apiKey is stored without --secret, so the stack's file holds the API key in plain text",
      remedy: `${pulumi.withStack("pulumi config set --secret webhooks:apiKey")}   # with a new key, if the file was committed`,
    };
  const selected = known.find(({ isSelected }) => isSelected);
  const others = (selected?.state.endpoints ?? []).filter(
    (each) =>
      providerNameOf(each) === undefined && !isPendingId(each.id ?? "") && !isRecordedAt(origin, each),
  );
  if (selected === undefined || others[0] === undefined) return;
  const { baseUrl = origin.baseUrl, account } = others[0].outputs ?? {};
  const how =
    baseUrl === origin.baseUrl
      ? `with another API key (fingerprint ${account}; today's is ${origin.account})`
      : `at ${baseUrl}, and webhooks:baseUrl is ${origin.baseUrl}`;
  yield found("OTHER_ACCOUNT", {
    message: `the stack ${selected.name} registered ${joined(others.map(({ urn }) => nameOf(urn)))} ${how}`,
    remedy: `pulumi up --stack ${quoted(selected.name)}   # if the key was rotated or the service moved; otherwise restore the setting`,
  });
}

/** Returns whether a resource was recorded with these settings, as far as its state says. */
function isRecordedAt(origin: Origin, { outputs = {} }: Resource): boolean {
  const { baseUrl = origin.baseUrl, account = origin.account } = outputs;
  return baseUrl === origin.baseUrl && account === origin.account;
}

export function* stackFindings({ unreadable, absence }: Stacks): Generator<Finding> {
  if (absence !== undefined)
    yield found("NO_STACK", {
      message: `no stack was looked into, because ${absence}`,
      remedy: "pulumi stack ls   # in the folder of a Pulumi program",
    });
  for (const { what, why } of unreadable) {
    const [, stack] = /^the stack (.*)/.exec(what) ?? [];
    yield found("STACK_UNREADABLE", {
      message: `${what} cannot be read: ${why}. Until it can, nothing is deleted or adopted`,
      remedy: stack ? `pulumi stack export --stack ${quoted(stack)}` : "pulumi stack ls --all",
    });
  }
}

/** Finds what runs of a stack left, and what its program lacks. */
export function* ownStackFindings(
  { name, state, deployment, outputs }: KnownStack,
  { gone, inventory }: Seen,
): Generator<Finding> {
  const stack = quoted(name);
  const pending = state.endpoints.filter(({ id = "" }) => isPendingId(id));
  const operations = deployment.pending_operations.filter(
    ({ resource }) => !state.interrupted.includes(resource),
  );
  const made = (inventory?.entries ?? []).filter(
    ({ owner }) => owner.kind === "pending" && owner.by[0].stack.name === name,
  );
  const which =
    made.length === 0 ? "" : `, and may have made ${joined(made.map(({ endpoint }) => endpoint.id))}`;
  if (pending.length > 0)
    yield found("REGISTRATION_PENDING", {
      message: `the registration of ${describeAll(pending)} got no answer${which}`,
      remedy: `pulumi up --stack ${stack}   # takes over what was registered, and registers what was not`,
    });
  if (state.interrupted.length > 0)
    yield found("OPERATION_INTERRUPTED", {
      message: `a run was interrupted while it registered ${describeAll(state.interrupted)}${which}`,
      remedy: `pulumi up --stack ${stack}   # first pulumi cancel, if the stack is locked; if this stays, pulumi refresh --clear-pending-creates`,
    });
  if (operations.length > 0)
    yield found("OPERATION_INTERRUPTED", {
      // A later run has healed a creation, and left its trace.
      level: operations.every(({ type }) => type === "creating") ? "note" : "error",
      message: `the state still has unfinished operations on ${describeAll(operations.map(({ resource }) => resource))}`,
      remedy: `pulumi refresh --clear-pending-creates --yes --stack ${stack}   # then run again what was interrupted`,
    });
  const missing = gone.filter((each) => each.stack.name === name).map(({ resource }) => nameOf(resource.urn));
  if (missing.length > 0)
    yield found("ENDPOINT_GONE", {
      message: `the service no longer has ${joined(missing)}, which the stack ${name} manages`,
      remedy: `pulumi refresh --yes --stack ${stack} && pulumi up --stack ${stack}   # first remove adoptId, if the program names one of them`,
    });
  if (deployment.resources.length > 0 && !outputs.includes(RECEIVER_OUTPUT))
    yield found("RECEIVER_OUTPUT_MISSING", {
      message: `the stack ${name} has endpoints and no output "${RECEIVER_OUTPUT}", from which receivers, send and verify take their secrets`,
      remedy: `export const ${RECEIVER_OUTPUT} = receiverConfig({ secrets: [signingSecret] });   // in the program`,
    });
}

function describeAll(resources: readonly Resource[]): string {
  return joined([...new Set(resources.map(describeResource))]);
}
