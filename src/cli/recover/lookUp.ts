import { WebhookError } from "../../client";
import type { Clock } from "../../client/clock";
import type { Book } from "../../settlement/book";
import {
  type Deployment,
  interruptedRegistrations,
  pendingResources,
  type Resource,
} from "../../settlement/deployment";
import { type Entry, mayTake } from "../../settlement/entry";
import { hashOf } from "../../settlement/files";
import {
  type LeftoverSources,
  listFor,
  type Shown,
  type Verdict,
  verdictsOf,
} from "../../settlement/leftovers";
import { settle } from "../../settlement/settle";
import type { Stack } from "../../settlement/stack";
import { nameOf } from "../../shared/urn";
import { countOf } from "../../shared/words";
import { AccountService } from "../accountService";
import type { Accounts } from "../accounts";
import { sourcesOf } from "../evidence";
import { type Account, showAnswer } from "../service";

/** A verdict, and the account that it is about. */
export interface Case {
  readonly verdict: Verdict;
  readonly account: Account;
  readonly sources: LeftoverSources;
}

/** What was looked up, and what cannot be: the state no longer has the WebhooksProvider that sent it. */
interface LookedUp {
  readonly cases: readonly Case[];
  readonly lost: { readonly entries: readonly Entry[]; readonly operations: readonly Resource[] };
}

interface LookUpOptions {
  readonly stack: Stack;
  readonly deployment: Deployment;
  readonly entries: readonly Entry[];
  readonly accounts: Accounts;
  readonly book: Book;
  readonly clock: Clock;
  readonly say: (line: string) => void;
  /** Called with what is under way, with counts. */
  readonly onStep: (text: string) => void;
}

/** Looks up what interrupted runs of a stack made, in each account that they may have used. Waits for what may still be made. */
export async function lookUp(options: LookUpOptions): Promise<LookedUp> {
  const { stack, entries, book, clock, say, onStep } = options;
  const cases: Case[] = [];
  const seen = new Set<Entry["name"]>();
  const isNew = ({ by }: Verdict) => by.some(({ entry }) => entry === undefined || !seen.has(entry.name));
  const { accounts, lost } = byAccount(options);
  for (const [at, [account, traces]] of accounts.entries()) {
    const found = cases.length === 0 ? "" : `, ${countOf(cases.length, "registration")} looked up`;
    onStep(`Looking up what interrupted runs registered: account ${at + 1} of ${accounts.length}${found}.`);
    const sources = sourcesOf(stack, account, { book, service: new AccountService(account.client, clock) });
    let verdicts: Verdict[] = [];
    const onWait = (milliseconds: number) =>
      say(
        `Waiting up to ${Math.ceil(milliseconds / 1000)} s in case an interrupted registration completes late.`,
      );
    await settle(
      () => listFor(traces, sources),
      async (list) => {
        verdicts = await verdictsOf(traces, list, sources);
        const waits = verdicts.flatMap(({ decision }) =>
          decision.kind === "wait" ? [decision.milliseconds] : [],
        );
        return waits.length === 0 ? { kind: "absent" } : { kind: "wait", milliseconds: Math.max(...waits) };
      },
      { clock, cancelled: undefined, onWait },
    ).catch((error: unknown) => {
      showAnswer(error, account, say);
      const isRefused = error instanceof WebhookError && error.code === "UNAUTHORIZED";
      if (isRefused && options.accounts.isExplicit(account))
        say(
          "recover uses the key that the state has of a WebhooksProvider. If the configuration has a newer one, `pulumi up` settles what was interrupted.",
        );
      throw error;
    });
    cases.push(...verdicts.filter(isNew).map((verdict) => ({ verdict, account, sources })));
    for (const entry of entries.filter((each) => mayTake(each, sources.asker.origin))) seen.add(entry.name);
  }
  return { cases, lost: { operations: lost, entries: entries.filter(({ name }) => !seen.has(name)) } };
}

/** Returns the accounts that runs may have used, each with what is its own. An entry names its provider by a hash. */
function byAccount({ deployment, entries, accounts }: LookUpOptions) {
  const interrupted = interruptedRegistrations(deployment);
  const lost = interrupted.filter((operation) => accounts.isProviderGone(operation));
  const operations = interrupted.filter((operation) => !lost.includes(operation));
  const resources = pendingResources(deployment);
  const left = new Set(entries.map(({ provider }) => provider));
  const providers = accounts.explicit().filter(({ urn }) => left.delete(hashOf(nameOf(urn))));
  const users = [...operations, ...resources, ...providers, ...(left.size > 0 ? [undefined] : [])];
  const used = new Set(users.map((user) => accounts.of(user)));
  const tracesOf = (account: Account): Shown => {
    const isItsOwn = (resource: Resource) => accounts.of(resource) === account;
    return { entries, operations: operations.filter(isItsOwn), resources: resources.filter(isItsOwn) };
  };
  return { accounts: [...used].map((account) => [account, tracesOf(account)] as const), lost };
}
