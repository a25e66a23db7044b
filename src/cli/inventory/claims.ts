import type { Endpoint } from "../../client";
import type { Clock } from "../../client/clock";
import { Book } from "../../settlement/book";
import { mayHaveMade, type Pending } from "../../settlement/decide";
import {
  identityOf,
  interruptedImports,
  interruptedRegistrations,
  pendingResources,
  type Resource,
} from "../../settlement/deployment";
import { type Entry, isSameStack, isUnderWay, type StackName } from "../../settlement/entry";
import { keyOf, sameId } from "../../settlement/identity";
import { statusOf } from "../../settlement/pendingEntry";
import { recordOf } from "../../settlement/pendingResource";
import { describeStackOf } from "../../shared/urn";
import type { AccountService } from "../accountService";
import { NO_RUN, settlementStack, sourcesOf } from "../evidence";
import type { Pulumi } from "../oldPulumi";
import type { Account } from "../service";
import type { KnownStack } from "./stacks";

export interface ClaimsOptions {
  readonly account: Account;
  /** The one that has listed the endpoints: it knows the service's time. */
  readonly service: AccountService;
  readonly pulumi: Pulumi;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Returns whether the backend no longer has the stack of an entry: no run will settle what an earlier one has left. Default: never. */
  readonly isRemoved?: ((entry: Entry) => boolean) | undefined;
}

/**
 * Returns the stacks, as `project/stack`, of which an interrupted run may have registered an endpoint or was to adopt it, by the
 * endpoint's id. The states and this machine's book tell.
 *
 * @param onProblem told that the book cannot be read
 */
export async function claimsOn(
  endpoints: readonly Endpoint[],
  stacks: readonly KnownStack[],
  options: ClaimsOptions,
  onProblem: (problem: string) => void,
): Promise<ReadonlyMap<string, string>> {
  const { account, service, environment, isRemoved = () => false } = options;
  const claims = new Map<string, string>();
  const book = new Book(environment, onProblem);
  const names: StackName[] = [];
  const sources = { book, service };
  const inBook = endpoints.filter((endpoint) => book.entriesLike(endpoint).some(({ closed }) => !closed));
  for (const known of stacks) {
    const stack = readStackOf(known, options);
    if (stack === undefined) continue;
    names.push(stack.name);
    const { deployment } = known;
    const operations = interruptedRegistrations(deployment);
    const imports = interruptedImports(deployment);
    const resources = pendingResources(deployment);
    // The state encrypts their urls, which may be any.
    const hidden = resources.filter((resource) => identityOf(resource) === undefined);
    const traces = [
      ...operations.map(({ inputs = {} }) => identityOf({ inputs })),
      ...resources.map(identityOf),
    ];
    const keys = new Set(traces.flatMap((identity) => (identity === undefined ? [] : [keyOf(identity)])));
    const isAny = traces.includes(undefined);
    const { evidence } = sourcesOf(stack, account, sources);
    // An earlier stack of this name is no more, unless it was renamed: then its state tells of what was interrupted.
    const isOfStack = async ({ entry }: Pending) =>
      entry === undefined ||
      (isSameStack(entry.stack, stack.name) && (await statusOf(entry, stack)).kind !== "another");
    // Most stacks have no trace, and there may be hundreds of them, and thousands of endpoints.
    const suspects = isAny
      ? endpoints
      : new Set([
          ...inBook,
          ...endpoints.filter(({ id }) => imports.includes(id)),
          ...(traces.length === 0
            ? []
            : endpoints.filter(
                (each) => keys.has(keyOf(each)) || operations.some((operation) => mayAdopt(operation, each)),
              )),
        ]);
    for (const endpoint of suspects) {
      const { pending } = await evidence.about(endpoint);
      const makers = pending.filter((each) => mayHaveMade(each, endpoint));
      const isClaimed =
        (await Promise.all(makers.map(isOfStack))).includes(true) ||
        operations.some((operation) => mayAdopt(operation, endpoint)) ||
        imports.includes(endpoint.id) ||
        hidden.some((resource) => !recordOf(resource).before.includes(endpoint.id));
      if (isClaimed) claims.set(endpoint.id, describeStackOf(stack.name.urn));
    }
  }
  const { evidence } = sourcesOf(undefined, account, sources);
  for (const endpoint of inBook) {
    const { pending } = await evidence.about(endpoint);
    const isUnread = ({ entry }: Pending) =>
      entry !== undefined &&
      !names.some((name) => isSameStack(entry.stack, name)) &&
      (!isRemoved(entry) || isUnderWay(entry, NO_RUN));
    const by = pending.find((each) => isUnread(each) && mayHaveMade(each, endpoint));
    if (by?.entry && !claims.has(endpoint.id)) claims.set(endpoint.id, describeStackOf(by.entry.stack.urn));
  }
  return claims;
}

/** Returns a stack whose state was read before. */
export function readStackOf(
  { name, deployment }: KnownStack,
  { pulumi, environment, clock }: Pick<ClaimsOptions, "pulumi" | "environment" | "clock">,
) {
  return settlementStack(deployment, (args) => pulumi.of(name).json(args), { environment, clock });
}

/** Returns whether an interrupted operation was to adopt an endpoint. An id that the state encrypts may be any. */
function mayAdopt({ inputs = {} }: Resource, endpoint: Endpoint): boolean {
  const { adoptId } = inputs;
  if (typeof adoptId !== "object" || adoptId === null)
    return typeof adoptId === "string" && sameId(adoptId, endpoint.id);
  const identity = identityOf({ inputs });
  return identity === undefined || keyOf(identity) === keyOf(endpoint);
}
