import type { Endpoint } from "../../client";
import { type Resource, wantedBy } from "../../provider/facts/exportedState";
import { evidenceOf, isFit } from "../../provider/facts/registrationEvidence";
import { keyOf } from "../../provider/facts/urlAndType";
import { CLEAR_OPERATIONS, quoted } from "../../shared/commandLine";
import { describeResource, SELF_MANAGED } from "../../shared/urn";
import { joined } from "../../shared/words";
import { COMING_OVER } from "../docs";
import { describeWork, unlocking } from "./runUnderWay";
import type { KnownStack, Stacks } from "./stacks";

/** A resource, or an operation on one that no run has finished, and the stack whose state has it. */
export interface StackResource {
  readonly stack: KnownStack;
  readonly resource: Resource;
}

/** Who has an endpoint. */
export interface Owner {
  /**
   * - `managed`: a state has its id, whatever base URL and API key it was recorded with
   * - `pending`: a registration that has not ended, or got no response, may have made it, or a run was to adopt it
   * - `unknown`: not every stack was read
   * - `nobody`: every stack of the backend was read. Only such an endpoint is an orphan
   */
  readonly kind: "managed" | "pending" | "unknown" | "nobody";
  /** What has it, or may have it; empty for the last two kinds. */
  readonly by: readonly StackResource[];
  /** For a cell of a table. */
  readonly shown: string;
  /** Why it is not an orphan, as the rest of a sentence after its id; undefined for an orphan. */
  readonly whyNotOrphan: string | undefined;
}

/**
 * Finds out from the states of some stacks who has an endpoint.
 *
 * @param graceMs how long after it was sent a registration may still be made
 */
export function ownersIn(stacks: Stacks, graceMs: number): (endpoint: Endpoint) => Owner {
  const recorded = new Map<string, StackResource[]>();
  for (const found of stacks.known.flatMap(resourcesIn)) {
    const { id = "" } = found.resource;
    recorded.set(id, [...(recorded.get(id) ?? []), found]);
  }
  const unfinished = stacks.known.flatMap((stack) => unfinishedIn(stack, graceMs));
  return (endpoint) => {
    const by = recorded.get(endpoint.id);
    if (by !== undefined) return managed(by);
    const others = stacks.known.flatMap((stack) => {
      const holder = stack.state.holderOfOtherType(endpoint);
      return holder === undefined ? [] : [{ stack, ...holder }];
    });
    const [other = others[0]] = others.filter(({ kind }) => kind === "otherType");
    if (other !== undefined) return other.kind === "otherType" ? managed([other]) : sealed(other);
    const found = unfinished.find(({ mayHave }) => mayHave(endpoint));
    return found === undefined ? unmanaged(stacks) : pending(found);
  };
}

/** Returns what has an id. An operation may be on an endpoint that exists, such as a deletion that was interrupted. */
function resourcesIn(stack: KnownStack): StackResource[] {
  const { resources, pending_operations } = stack.deployment;
  const all = [...pending_operations.map(({ resource }) => resource), ...resources].filter(({ id }) => id);
  const each = new Map(all.map((resource) => [`${resource.urn} ${resource.id}`, { stack, resource }]));
  return [...each.values()];
}

/** Returns the registrations of a stack that got no response. */
export function unansweredIn(stack: KnownStack): StackResource[] {
  return stack.state.unanswered.map((resource) => ({ stack, resource }));
}

/** Returns the registrations that may have made an endpoint, and the adoptions that have not ended. */
function unfinishedIn(stack: KnownStack, graceMs: number) {
  const adoptions = stack.deployment.pending_operations.map(({ resource }) => {
    const mayHave = ({ id }: Endpoint) => id === resource.inputs?.adoptId;
    return { stack, resource, mayHave };
  });
  const registrations = unansweredIn(stack).map(({ resource }) => {
    const evidence = evidenceOf(resource);
    const mayHave = (endpoint: Endpoint) => {
      // If the state encrypts what was wanted, it may be any.
      const wanted = wantedBy(resource) ?? endpoint;
      return keyOf(wanted) === keyOf(endpoint) && isFit(endpoint, evidence, graceMs);
    };
    return { stack, resource, mayHave };
  });
  return [...adoptions, ...registrations];
}

function managed(by: readonly StackResource[]): Owner {
  const shown = joined(by.map(describeOwned));
  const [move = ""] = by.map(
    ({ stack, resource }) =>
      `pulumi state move --source ${quoted(stack.name)} --dest … ${quoted(resource.urn)}`,
  );
  const whyNotOrphan =
    `it is managed by ${shown}. To delete it, take it out of that program, and run \`pulumi up\`. To manage ` +
    `it in another stack, run \`${move}\`; where Pulumi refuses that, follow ${COMING_OVER}`;
  return { kind: "managed", by, shown, whyNotOrphan };
}

/** A dynamic resource has its id, and holds something that the state encrypts. */
function sealed(by: StackResource): Owner {
  const shown = `perhaps ${describeOwned(by)}`;
  const whyNotOrphan =
    `${describeOwned(by)} (${by.resource.urn}), a dynamic resource with this id, may have it: what it holds is encrypted. To delete it, take ` +
    "it out of that program, and run `pulumi up`";
  return { kind: "managed", by: [by], shown, whyNotOrphan };
}

function pending(by: StackResource): Owner {
  const name = describeOwned(by);
  const isInterrupted = !by.stack.work.mayRun;
  const what = isInterrupted ? "an interrupted run" : "a run that may be under way";
  const whyNotOrphan = `${what} of ${name} may have registered it, or was to adopt it. ${toSettle(by)}`;
  return {
    kind: "pending",
    by: [by],
    shown: `perhaps ${name} (${isInterrupted ? "interrupted" : "not ended"})`,
    whyNotOrphan,
  };
}

/** Describes a resource. Pulumi names a stack's organization if it is not the default one. */
export function describeOwned({ stack: { name }, resource }: StackResource): string {
  const [organization, ...rest] = name.split("/");
  return describeResource(
    resource,
    rest.length === 0 || organization === SELF_MANAGED ? undefined : organization,
  );
}

function unmanaged({ gap }: Stacks): Owner {
  const kind = gap === undefined ? "nobody" : "unknown";
  return { kind, by: [], shown: gap ?? "no stack", whyNotOrphan: gap };
}

/** Says how a user settles what a run of a stack has not ended. */
export function toSettle({ stack: { name, work } }: StackResource): string {
  if (work.kind === "under way") return `Wait until it has ended: ${describeWork(name, work)}`;
  if (work.kind === "held elsewhere") return `Ask there: ${describeWork(name, work)}`;
  const stack = `--stack ${quoted(name)}`;
  return `Run \`${unlocking(name, work)}pulumi up ${stack}\` there; if that does not settle it, or nobody wants it, \`${CLEAR_OPERATIONS} ${stack}\``;
}
