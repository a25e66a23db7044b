import type { Endpoint } from "../client";
import type { Clock } from "../client/clock";
import { Book } from "../settlement/book";
import { mayHaveMade, type Pending } from "../settlement/decide";
import { identityOf, interruptedRegistrations } from "../settlement/deployment";
import { isSameStack, type StackName } from "../settlement/entry";
import { handedOverOf, pendingResources } from "../settlement/pendingResource";
import type { Account } from "./account";
import type { AccountService } from "./accountService";
import { settlementStack, sourcesOf } from "./evidence";
import type { Pulumi } from "./pulumi";
import type { KnownStack } from "./stacks";

export interface ClaimsOptions {
  readonly account: Account;
  /** The one that has listed the endpoints: it knows the service's time. */
  readonly service: AccountService;
  readonly pulumi: Pulumi;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
}

/**
 * Returns the stacks, as `project/stack`, of which an interrupted run may have registered an endpoint or was to adopt it, by the
 * endpoint's id. The states and this machine's book tell.
 */
export async function claimsOn(
  endpoints: readonly Endpoint[],
  stacks: readonly KnownStack[],
  options: ClaimsOptions,
): Promise<ReadonlyMap<string, string>> {
  const { account, service, environment } = options;
  const claims = new Map<string, string>();
  if (endpoints.length === 0) return claims;
  const book = new Book(environment, () => {}); // Runs warn of a book that cannot be used.
  const names: StackName[] = [];
  const sources = { book, service };
  for (const known of stacks) {
    const stack = stackOf(known, options);
    if (stack === undefined) continue;
    names.push(stack.name);
    const { evidence } = sourcesOf(stack, account, sources);
    const { deployment } = known;
    const operations = interruptedRegistrations(deployment);
    // The state encrypts their urls, which may be any.
    const hidden = pendingResources(deployment).filter((resource) => identityOf(resource) === undefined);
    for (const endpoint of endpoints) {
      const { pending } = await evidence.about({ ...endpoint, anyIp: true });
      const isClaimed =
        pending.some((each) => isOf(each, stack.name) && mayHaveMade(each, endpoint)) ||
        operations.some(({ inputs }) => inputs?.adoptId === endpoint.id) ||
        hidden.some((resource) => !handedOverOf(resource).before.includes(endpoint.id));
      if (isClaimed) claims.set(endpoint.id, describeStack(stack.name));
    }
  }
  const { evidence } = sourcesOf(undefined, account, sources);
  for (const endpoint of endpoints) {
    const { pending } = await evidence.about({ ...endpoint, anyIp: true });
    const isUnread = ({ entry }: Pending) => !names.some((name) => entry && isSameStack(entry.stack, name));
    const by = pending.find((each) => isUnread(each) && mayHaveMade(each, endpoint));
    if (by?.entry && !claims.has(endpoint.id)) claims.set(endpoint.id, describeStack(by.entry.stack));
  }
  return claims;
}

/** Returns a stack whose state was read before. */
export function stackOf(
  { name, deployment }: KnownStack,
  { pulumi, environment, clock }: Pick<ClaimsOptions, "pulumi" | "environment" | "clock">,
) {
  return settlementStack(
    deployment,
    async (args) => (args[1] === "export" ? { deployment } : pulumi.of(name).json(args)),
    { environment, clock },
  );
}

function isOf({ entry }: Pending, name: StackName): boolean {
  return entry === undefined || isSameStack(entry.stack, name);
}

function describeStack({ urn }: StackName): string {
  const [stack = "", project = ""] = urn.replace(/^urn:pulumi:/, "").split("::");
  return `${project}/${stack}`;
}
