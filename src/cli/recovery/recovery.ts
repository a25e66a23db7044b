import { rmSync } from "node:fs";
import { type Clock, systemClock } from "../../client/clock";
import {
  type Deployment,
  type ExportedStack,
  interruptedRegistrations,
  isInterruptedRegistration,
  type Resource,
} from "../../settlement/deployment";
import { Accounts } from "../accounts";
import { CliError } from "../errors";
import type { Pulumi } from "../pulumi";
import { Backups } from "./backups";
import { choose, type Dialogue, describeOutcome } from "./dialogue";
import { exportState } from "./exportState";
import { importState } from "./importState";
import { type FoundEndpoint, insertEndpoints } from "./insertEndpoints";
import { interruptedRun, readHistory } from "./interruptedRun";
import { lookUpOutcomes } from "./lookUp";
import type { Outcome } from "./outcome";
import { isRecordedSince, isSurplus } from "./registration";

export interface RecoverOptions {
  readonly pulumi: Pulumi;
  readonly dialogue: Dialogue;
  /** Writes the state without asking, unless anything is unclear. */
  readonly yes: boolean;
  readonly environment?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
}

/**
 * Adds to a stack's state the endpoints that an interrupted run registered but did not record (engine rule 23).
 *
 * @returns `undecided` when a person has to decide something and did not: then the state was not changed
 * @throws CliError or WebhookError when it cannot be done; the state is as it was
 */
export async function recover(options: RecoverOptions): Promise<"done" | "undecided"> {
  const { pulumi, dialogue, yes, environment = process.env, clock = systemClock } = options;
  const { say, ask } = dialogue;
  const confirm = async (question: string) =>
    yes || /^y(es)?$/i.test((await ask?.(`${question} [y/N] `)) ?? "");
  const declined = () => {
    say(
      ask
        ? "The state was not changed."
        : "The state was not changed, because the command has no terminal to ask in. To continue without questions, add --yes.",
    );
    return "undecided" as const;
  };

  const exported = await exportState(pulumi, (files) => {
    say(
      "The killed run left empty .attrs files in the backend. Until they are removed, no command can read the state:",
    );
    for (const file of files) say(`  ${file}`);
    return confirm("Remove them?");
  });
  if (exported === undefined) return declined();
  const { deployment, ...rest }: ExportedStack = JSON.parse(exported);
  const interrupted = interruptedRegistrations(deployment);
  if (interrupted.length === 0) {
    say("Nothing to recover: the state holds no interrupted registration of a webhook endpoint.");
    return "done";
  }

  const { deployment: plain } = await pulumi.json<ExportedStack>(["stack", "export", "--show-secrets"]);
  const run = interruptedRun(deployment, await readHistory(pulumi), clock.date());
  const accounts = await Accounts.read(pulumi, plain, environment);
  try {
    const accountOf = (resource: Resource) => accounts.of(resource);
    const outcomes = await lookUpOutcomes(plain, { accountOf, run, clock, say });
    say(`The state holds ${count(interrupted.length, "interrupted registration")}:`);
    for (const outcome of outcomes)
      say(`  ${describeOutcome(outcome, (registration) => isRecordedSince(run.until, registration, plain))}`);
    const others = otherInterrupted(deployment);
    for (const { urn } of others)
      say(
        `  ${urn} was interrupted too, and is not a webhook endpoint. If you continue, Pulumi forgets that it was interrupted.`,
      );
    if (!ask && (others.length > 0 || outcomes.some(({ kind }) => kind === "unclear"))) {
      say(
        "The state was not changed, because this needs your decision. Run the command again in a terminal, without --yes.",
      );
      return "undecided";
    }
    const made = await settle(outcomes, ask);
    if (made === undefined || !(await confirm("Write this to the state?"))) return declined();

    const found: FoundEndpoint[] = made.flatMap(({ registration, endpoint }) => {
      const resource = interrupted[registration.index];
      if (resource === undefined) return [];
      const { origin } = accountOf(resource);
      return [
        { resource, registration, endpoint, origin, surplus: isSurplus(registration, endpoint, plain) },
      ];
    });
    const now = new Date(clock.date());
    const recovered = { ...rest, deployment: insertEndpoints(deployment, found, now) };
    const backups = new Backups(environment);
    const backup = backups.keep(exported, deployment, now);
    try {
      await replaceState(pulumi, exported, JSON.stringify(recovered));
    } catch (error) {
      rmSync(backup);
      throw error;
    }
    backups.prune();
    say(`The previous state was saved to ${backup}`);
    say(
      `Recovered ${count(found.length, "endpoint")} and cleared ${count(interrupted.length, "interrupted registration")}. ` +
        "Run `pulumi up` next.",
    );
    return "done";
  } finally {
    await accounts.close();
  }
}

/** Returns what else the state holds as being created, which an import makes Pulumi forget. */
function otherInterrupted({ pending_operations = [] }: Deployment): Resource[] {
  return pending_operations
    .filter((operation) => operation.type === "creating" && !isInterruptedRegistration(operation))
    .map(({ resource }) => resource);
}

type MadeOutcome = Extract<Outcome, { kind: "made" }>;

/** Returns the registrations that created an endpoint. Asks a person about the unclear ones; undefined without an answer. */
async function settle(
  outcomes: readonly Outcome[],
  ask: Dialogue["ask"],
): Promise<MadeOutcome[] | undefined> {
  const made: MadeOutcome[] = [];
  const taken = new Set<string>();
  for (const outcome of outcomes) {
    const settled = outcome.kind === "unclear" ? await choose(outcome, taken, ask) : outcome;
    if (settled === undefined) return undefined;
    if (settled.kind !== "made") continue;
    taken.add(settled.endpoint.id);
    made.push(settled);
  }
  return made;
}

/** Replaces the state unless it has changed. @throws CliError `STATE_CHANGED`, `STACK_LOCKED` or `PULUMI_FAILED` */
async function replaceState(pulumi: Pulumi, before: string, after: string): Promise<void> {
  if ((await pulumi.output(["stack", "export"])) !== before) {
    throw new CliError(
      "STATE_CHANGED",
      "the state changed while this command was running, so nothing was written. Make sure that no run is under way, and " +
        "run this command again",
    );
  }
  await importState(pulumi, after);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
