import { type Clock, systemClock } from "../../client/clock";
import { Book } from "../../settlement/book";
import { categoryOf } from "../../settlement/category";
import {
  type Deployment,
  interruptedRegistrations,
  pendingResources,
  plainText,
  type Resource,
} from "../../settlement/deployment";
import type { Entry } from "../../settlement/entry";
import { pulumiHome } from "../../settlement/files";
import type { Print } from "../../settlement/history";
import { openEntries } from "../../settlement/leftovers";
import { isOvertaken, isReplacement } from "../../settlement/operations";
import { isSameAccount } from "../../settlement/trace";
import { Turns } from "../../settlement/turns";
import { describeUrl } from "../../shared/url";
import { nameOf } from "../../shared/urn";
import { countOf } from "../../shared/words";
import { Accounts } from "../accounts";
import { NO_RUN, settlementStack } from "../evidence";
import type { Pulumi } from "../pulumi";
import { agrees } from "../terminal";
import { joined } from "../text";
import { type Dialogue, describeVerdict } from "./dialogue";
import { exportState } from "./exportState";
import { type Case, lookUp } from "./lookUp";
import { Remedies } from "./remedies";

interface RecoverOptions {
  readonly pulumi: Pulumi;
  readonly dialogue: Dialogue;
  /** Removes empty .attrs files without asking. */
  readonly yes: boolean;
  readonly environment?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
}

/**
 * Shows what interrupted runs of a stack registered, and asks about what `up` cannot settle by itself: what is in doubt, and what no
 * resource will take. It leaves the state alone.
 *
 * @returns `undecided` when a person has to decide something and did not
 * @throws CliError or WebhookError
 */
export async function recover(options: RecoverOptions): Promise<"done" | "undecided"> {
  const { pulumi, dialogue, yes, environment = process.env, clock = systemClock } = options;
  const { say, ask, during } = dialogue;
  const exported = await exportState(pulumi, during, async (files) => {
    say(
      "The killed run left empty .attrs files in the backend. Until they are removed, no command can read the state:",
    );
    for (const file of files) say(`  ${file}`);
    return yes || agrees((await ask?.("Remove them? [y/N] ")) ?? "");
  });
  if (exported === undefined) {
    say(
      `They were not removed.${ask ? "" : " The command has no terminal to ask in. To remove them without a question, add --yes."}`,
    );
    return "undecided";
  }
  const { deployment } = exported;
  const print: Print = (args) => pulumi.json(args[1] === "export" ? [...args, "--show-secrets"] : args);
  const stack = settlementStack(deployment, print, { environment, clock });
  let isBookRead = true;
  const book = new Book(environment, (problem) => {
    isBookRead = false;
    say(problem);
  });
  const entries =
    stack === undefined
      ? []
      : await during(() => "Reading what earlier runs sent…", openEntries(stack, book, NO_RUN));
  const interrupted = interruptedRegistrations(deployment);
  if (
    stack === undefined ||
    interrupted.length + pendingResources(deployment).length + entries.length === 0
  ) {
    if (isBookRead) say("Nothing to recover: no registration of this stack was interrupted.");
    else
      say(
        "The state has no interrupted registration, but what earlier runs of this machine have sent is unknown. Make the folder readable, and run the command again.",
      );
    return isBookRead ? "done" : "undecided";
  }

  /** What was sent in an account that was not looked into stays an open question until a person ends it. */
  const forgetIfAsked = async (sent: readonly Entry[]) => {
    if (sent.length === 0) return;
    if (ask === undefined) say("To forget it, run the command in a terminal, without --yes.");
    else if (agrees(await ask(FORGET))) for (const entry of sent) book.close(entry);
  };
  let progress = "Reading the settings…";
  const onStep = (text: string) => {
    progress = text;
  };
  const accounts = await during(() => progress, Accounts.read(pulumi, deployment, environment));
  const turns = new Turns(pulumiHome(environment), {
    clock,
    cancelled: undefined,
    onWait: ({ url }) => say(`Waiting for another process that is registering ${describeUrl(url)}.`),
  });
  try {
    const looking = lookUp({ stack, deployment, entries, accounts, book, clock, say, onStep });
    const { cases, lost } = await during(() => progress, looking);
    const remedies = new Remedies({ pulumi, stack, turns, clock, dialogue });
    let undecided = 0;
    for (const each of cases) {
      const category = categoryOf(each.verdict, deployment);
      say(describeVerdict(each.verdict, category, pulumi));
      if (!(await remedies.apply(each, category))) undecided += 1;
      const elsewhere = category === "nothing" ? sentElsewhere(each) : [];
      if (elsewhere.length > 0) {
        say(
          "It was sent with another API key, or to another base URL. If that was another account, what it made may be there: with those settings, recover looks it up.",
        );
        await forgetIfAsked(elsewhere);
      }
    }
    // What has a resource by now was made again, or taken over. No up and no deletion waits for the others.
    const operations = lost.operations.filter((each) => !isReplacement(each, deployment));
    const gone = Math.max(operations.length, lost.entries.length);
    if (gone > 0) say(describeLost(gone, operations, pulumi));
    await forgetIfAsked(lost.entries);
    sayWhatStays(deployment, say, pulumi);
    if (undecided === 0) return "done";
    say(
      `${undecided === 1 ? "One case needs" : `${undecided} cases need`} your decision.${ask ? "" : " Run the command again in a terminal, without --yes."}`,
    );
    return "undecided";
  } finally {
    await accounts.close();
  }
}

const FORGET =
  "Should it be forgotten? Then `delete` and `prune` in a stack with that account's key can delete what it made. [y/N] ";

/** Returns what this machine's book has as sent in another account than the one that was looked into. */
function sentElsewhere({ verdict, sources }: Case): Entry[] {
  return verdict.by.flatMap(({ entry }) =>
    entry && !isSameAccount(entry, sources.asker.origin) ? [entry] : [],
  );
}

function describeLost(count: number, operations: readonly Resource[], { withStack }: Pulumi): string {
  const names = operations.length === 0 ? "" : ` (${joined(operations.map(({ urn }) => nameOf(urn)))})`;
  const [was, it] = count === 1 ? ["was", "it"] : ["were", "them"];
  return (
    `${countOf(count, "registration")}${names} ${was} sent by a WebhooksProvider that the state no longer has, so nothing here can look up what ` +
    `became of ${it}. If you declare that provider again, \`${withStack("pulumi up")}\` settles ${it}.` +
    (operations.length === 0
      ? ""
      : ` If not, \`${withStack("pulumi refresh --clear-pending-creates --yes")}\` gives ${it} up.`)
  );
}

/** Says what of the interrupted runs stays in the state, and how to end the engine's own warning of it. */
function sayWhatStays(deployment: Deployment, say: Dialogue["say"], { withStack }: Pulumi): void {
  const interrupted = interruptedRegistrations(deployment);
  if (interrupted.length === 0) return;
  for (const { urn, inputs } of interrupted.filter((each) => !isOvertaken(each, deployment))) {
    const adoptId = plainText(inputs, "adoptId");
    if (adoptId !== undefined)
      say(`${nameOf(urn)}: it was to adopt ${adoptId}. The next \`${withStack("pulumi up")}\` does.`);
  }
  const others = (deployment.pending_operations ?? []).filter(
    ({ type, resource }) => type === "creating" && !interrupted.includes(resource),
  );
  say(
    `Pulumi keeps warning of pending operations. Once \`${withStack("pulumi up")}\` has succeeded, \`${withStack("pulumi refresh --clear-pending-creates --yes")}\` ends that.` +
      (others.length === 0
        ? ""
        : ` It also drops the operations of ${others.map(({ resource }) => resource.urn).join(", ")}.`),
  );
}
