import type { Clock } from "../client/clock";
import type { Book } from "../settlement/book";
import { type Deployment, stackIn } from "../settlement/deployment";
import type { StackName } from "../settlement/entry";
import { Evidence } from "../settlement/evidence";
import type { Print } from "../settlement/history";
import type { LeftoverSources } from "../settlement/leftovers";
import { Stack } from "../settlement/stack";
import { programFolder, stackNameOf } from "../settlement/stackName";
import { originHashes } from "../settlement/trace";
import { stackOf } from "../shared/urn";
import type { AccountService } from "./accountService";
import type { Account } from "./service";

/** A command is not a run: no entry of the book is its own. */
export const NO_RUN = "command";

/** Returns a stack as the settlement knows it; undefined if its state has nothing, and so says nothing of its name. */
export function settlementStack(
  deployment: Deployment,
  print: Print,
  { environment, clock }: { readonly environment: NodeJS.ProcessEnv; readonly clock: Clock },
): Stack | undefined {
  const urn = rootUrnOf(deployment);
  if (urn === undefined) return undefined;
  const folder = programFolder(environment);
  const name = stackNameOf(urn, { environment, folder });
  return new Stack(name, print, clock.date(), deployment);
}

/** After a destroy, the interrupted operations are all that is left in a state. */
function rootUrnOf(deployment: Deployment): string | undefined {
  const [operation] = deployment.pending_operations ?? [];
  const root = stackIn(deployment)?.urn;
  if (root !== undefined || operation === undefined) return root;
  const { stack, project } = stackOf(operation.resource.urn);
  return `urn:pulumi:${stack}::${project}::pulumi:pulumi:Stack::${project}-${stack}`;
}

/** Returns what the settlement needs to look up what interrupted runs made in an account. @param stack undefined: none of them */
export function sourcesOf(
  stack: Stack | undefined,
  { origin, timeoutMs, patienceMs }: Account,
  { book, service }: { readonly book: Book; readonly service: AccountService },
): LeftoverSources {
  const asker = {
    origin: originHashes(origin),
    run: NO_RUN,
    sender: NO_RUN,
    timeoutMs,
    patienceMs,
    skew: service.skew,
    countsAll: true,
  };
  const stacks = {
    current: async () => stack,
    of: (name: StackName) => new Stack(name, () => Promise.reject(new Error("it is not known")), 0),
  };
  return { book, asker, service, evidence: new Evidence(book, stacks, asker) };
}
