import { rmSync, writeFileSync } from "node:fs";
import { describeUrl } from "../endpoint/url";
import { openAccounts } from "./accounts";
import { type Exported, isPendingRegistration, nameOf } from "./deployment";
import { exportState } from "./exportState";
import { findLeftovers, isDuplicate, pendingRegistrations, timesOf } from "./leftovers";
import type { Finding } from "./match";
import { type Claim, mend } from "./mend";
import { CliError, type Pulumi, pulumiFailed } from "./pulumi";

/** How a recovery speaks with the person at the terminal; `ask` is absent where there is none. */
export interface Dialogue {
  readonly say: (line: string) => void;
  readonly ask?: (question: string) => Promise<string>;
}

export interface RecoverOptions {
  readonly pulumi: Pulumi;
  readonly dialogue: Dialogue;
  /** Goes on without asking where there is no doubt. */
  readonly yes: boolean;
  readonly environment?: NodeJS.ProcessEnv;
  readonly now?: () => number;
}

/**
 * Puts into a stack's state what a killed run registered and could not record (engine rule 23).
 *
 * @returns `undecided` when a person has to decide something and did not: then nothing was changed
 * @throws Error when it cannot be done; the state is as it was
 */
export async function recover(options: RecoverOptions): Promise<"done" | "undecided"> {
  const { pulumi, dialogue, yes, environment = process.env, now = Date.now } = options;
  const { say, ask } = dialogue;
  const confirm = async (question: string) =>
    yes || /^y(es)?$/i.test((await ask?.(`${question} [y/N] `)) ?? "");
  const undecided = () => {
    say("Nothing was changed.");
    return "undecided" as const;
  };

  const exported = await exportState(pulumi, (files) => {
    say("The killed run left files of attributes that are empty, so that no command can read the state:");
    for (const file of files) say(`  ${file}`);
    return confirm("Remove them?");
  });
  if (exported === undefined) return undecided();
  const { deployment, ...rest }: Exported = JSON.parse(exported);
  const pending = pendingRegistrations(deployment);
  if (pending.length === 0) {
    say("Nothing to recover: no registration of a webhook endpoint is pending.");
    return "done";
  }

  const { deployment: plain }: Exported = JSON.parse(
    await pulumi.output(["stack", "export", "--show-secrets"]),
  );
  const accountOf = await openAccounts(pulumi, plain, environment);
  const times = await timesOf(pulumi, deployment);
  const findings = await findLeftovers(plain, { accountOf, times, now });

  say(`A killed run left ${count(pending.length, "registration")} pending:`);
  for (const finding of findings) say(`  ${describe(finding)}`);
  const others = (deployment.pending_operations ?? []).filter(
    (operation) => operation.type === "creating" && !isPendingRegistration(operation),
  );
  for (const { resource } of others)
    say(`  ${resource.urn} is pending too and no webhook endpoint: mending makes Pulumi forget that.`);
  const doubt = others.length > 0 || findings.some(({ kind }) => kind === "unclear");
  if (doubt && ask === undefined) {
    say("Somebody has to decide: run it again in a terminal, without --yes.");
    return undecided();
  }

  const claims: Claim[] = [];
  const taken = new Set<string>();
  for (const finding of findings) {
    const endpoint = finding.kind === "unclear" ? await choose(finding, taken, ask) : finding;
    if (endpoint === "undecided") return undecided();
    const resource = pending[finding.leftover.index];
    if (endpoint.kind === "nothing" || resource === undefined) continue;
    taken.add(endpoint.endpoint.id);
    const duplicate = isDuplicate(finding.leftover, endpoint.endpoint, plain);
    claims.push({ resource, endpoint: endpoint.endpoint, origin: accountOf(resource).origin, duplicate });
  }
  if (!(await confirm("Mend the state?"))) return undecided();

  const saved = save(exported, now());
  try {
    if ((await pulumi.output(["stack", "export"])) !== exported) {
      throw new CliError(
        "STATE_CHANGED",
        "the state has changed meanwhile, so nothing was mended: see that no other run is under way, and run it again",
      );
    }
    const mended = { ...rest, deployment: mend(deployment, claims, new Date(now())) };
    await importState(pulumi, JSON.stringify(mended));
  } catch (error) {
    rmSync(saved);
    throw error;
  }
  say(`The state as it was is kept in ${saved}.`);
  say(`Mended: ${count(claims.length, "endpoint")} put into the state. Go on with \`pulumi up\`.`);
  return "done";
}

/** Lets a person say which endpoint came of a registration. */
async function choose(
  { leftover, candidates, why }: Extract<Finding, { kind: "unclear" }>,
  taken: ReadonlySet<string>,
  ask: Dialogue["ask"],
): Promise<Exclude<Finding, { kind: "unclear" }> | "undecided"> {
  const left = candidates.filter(({ id }) => !taken.has(id));
  const ids = left.map(({ id, createdAt }) => `${id} (${createdAt ?? "made at a time unknown"})`).join(", ");
  const question = `${nameOf(leftover.urn)}: ${why}. Which one is it: ${ids || "there is none left"}? Its id, or "none": `;
  const answer = (await ask?.(question))?.trim() ?? "";
  if (answer === "none") return { kind: "nothing", leftover };
  const endpoint = left.find(({ id }) => id === answer);
  return endpoint ? { kind: "found", leftover, endpoint } : "undecided";
}

function describe(finding: Finding): string {
  const { urn, url, type } = finding.leftover;
  const what = `${nameOf(urn)} (${describeUrl(url)}, ${type})`;
  switch (finding.kind) {
    case "found":
      return `${what}: it made ${finding.endpoint.id} at ${finding.endpoint.createdAt ?? "a time unknown"}`;
    case "nothing":
      return `${what}: it was never made; the next \`pulumi up\` registers it`;
    case "unclear":
      return `${what}: unclear, because ${finding.why}: ${finding.candidates.map(({ id }) => id).join(", ") || "none seen"}`;
  }
}

/** Keeps the state as a file that nobody else can read; its secrets are encrypted. */
function save(state: string, now: number): string {
  const name = `state-before-recover-${new Date(now).toISOString().replace(/[:.]/g, "-")}.json`;
  writeFileSync(name, state, { mode: 0o600, flag: "wx" });
  return name;
}

/** @throws CliError `STACK_LOCKED` when the killed run's lock is still there */
async function importState(pulumi: Pulumi, state: string): Promise<void> {
  const command = ["stack", "import"];
  const result = await pulumi.run(command, { input: state });
  if (result.exitCode === 0) return;
  if (/\block(ed|\(s\))|another update is currently in progress/i.test(result.stderr)) {
    throw new CliError(
      "STACK_LOCKED",
      "the stack is locked by the killed run, or by one that is still under way. When you are sure that it is dead, run " +
        "`pulumi cancel`, then this again. Nothing was changed",
    );
  }
  throw pulumiFailed(command, result);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
