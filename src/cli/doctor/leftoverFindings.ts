import type { Endpoint } from "../../client";
import { Book } from "../../settlement/book";
import { categoryOf } from "../../settlement/category";
import { interruptedRegistrations, pendingResources } from "../../settlement/deployment";
import {
  endpointsOf,
  isInState,
  isLeftover,
  listFor,
  openEntries,
  verdictsOf,
} from "../../settlement/leftovers";
import { describeDoubt, describeLeftovers } from "../../settlement/words";
import { NO_RUN, sourcesOf } from "../evidence";
import { type ClaimsOptions, readStackOf } from "../inventory/claims";
import type { Ownership } from "../inventory/ownership";
import type { KnownStack } from "../inventory/stacks";
import { error, type Finding, remedyFor } from "./finding";

/**
 * Finds what interrupted runs of the stacks registered and no resource of any stack has. What the next `up` takes over by the state is left to
 * the findings of the state.
 *
 * @param options.owners of all stacks that were read
 * @throws WebhookError
 */
export async function leftoverFindings(
  stacks: readonly KnownStack[],
  { owners, ...options }: ClaimsOptions & { readonly owners: Ownership },
): Promise<Finding[]> {
  const book = new Book(options.environment, () => {}); // Runs warn of a book that cannot be used.
  const findings: Finding[] = [];
  for (const known of stacks) {
    const { deployment, name } = known;
    const stack = readStackOf(known, options);
    if (stack === undefined) continue;
    const entries = await openEntries(stack, book, NO_RUN);
    const operations = interruptedRegistrations(deployment);
    const resources = pendingResources(deployment);
    if (entries.length + operations.length + resources.length === 0) continue;
    const traces = { entries, operations, resources };
    const sources = sourcesOf(stack, options.account, { book, service: options.service });
    const verdicts = await verdictsOf(traces, await listFor(traces, sources), sources);
    const isManaged = (endpoint: Endpoint) => owners.ownerOf(endpoint)?.kind === "manages";
    const left = verdicts.filter(isLeftover).filter((each) => !endpointsOf(each.decision).every(isManaged));
    const named = left.filter((each) => {
      const isOnlyInBook = each.decision.kind === "found" && !isInState(each);
      return isOnlyInBook || categoryOf(each, deployment) === "unwanted";
    });
    const { withStack } = options.pulumi.of(name);
    const remedy = remedyFor(known, `Run \`${withStack("npx pulumi-webhook-endpoints recover")}\`.`);
    if (named.length > 0)
      findings.push(
        error("LEFTOVER", `in the stack ${name}, ${describeLeftovers(named, withStack)}`, remedy),
      );
    for (const each of left) {
      const { identity, decision } = each;
      if (identity && decision.kind === "doubt" && categoryOf(each, deployment) === "in-doubt")
        findings.push(
          error(
            "REGISTRATION_IN_DOUBT",
            `in the stack ${name}, ${describeDoubt(identity, decision, { withStack })}`,
            remedy,
          ),
        );
    }
  }
  return findings;
}
