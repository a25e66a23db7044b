import { randomUUID } from "node:crypto";
import type { Clock } from "../../client/clock";
import { madePulumiHome } from "../../settlement/files";
import { Turns } from "../../settlement/turns";
import { CliError } from "../errors";
import type { Output } from "../output";
import { type Account, showAnswer } from "../service";
import { check } from "./check";
import { deleteAll, markedIn, newCheck, urlsOf } from "./endpoints";
import { Findings } from "./findings";
import { leftover, printFindings, questionOf } from "./report";
import { Wire } from "./wire";

export interface CheckServiceOptions {
  readonly account: Account;
  /** The url to register, before it gets the mark of this check. */
  readonly url: string;
  readonly output: Output;
  readonly clock: Clock;
  /** Ends the check after the request under way, and deletes its endpoints. */
  readonly stopped: AbortSignal;
  /** Asks whether to go on, with a question in several lines. */
  readonly ask: (question: readonly string[]) => Promise<boolean>;
  /** Returns which of some endpoints a stack has, or may have. */
  readonly heldOf: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Called before the first registration, with a function that says what a process leaves that ends now. */
  readonly onRegistering?: (whatMayBeLeft: () => string | undefined) => void;
}

/** How a check ended. After `stopped` and `declined` nothing is printed, and nothing that it registered is left. */
type Ended = "meets" | "differs" | "stopped" | "declined";

/**
 * Plays the contract at a service, and prints the findings.
 *
 * @throws CliError `ENDPOINT_LEFT` if it could not delete what it has registered
 * @throws WebhookError if the service cannot be reached, or refuses the key
 */
export async function checkService(options: CheckServiceOptions): Promise<Ended> {
  const { account, url, output, clock, stopped } = options;
  const onWait = () => output.note("Waiting for another check with the same url on this machine.");
  const turns = new Turns(madePulumiHome(process.env), { clock, cancelled: stopped, onWait });
  const ended = await turns.take({ url, type: "development" }, async () => {
    const wire = new Wire(account, { clock, wrongKey: `wrong-key-${randomUUID()}` });
    try {
      return await play(wire, options);
    } finally {
      await wire.close();
    }
  });
  return ended === "cancelled" ? "stopped" : ended;
}

async function play(wire: Wire, options: CheckServiceOptions): Promise<Ended> {
  const { account, url, output, clock, stopped, ask, onRegistering } = options;
  const findings = new Findings();
  const doing = () => `Checking the service. It has had ${wire.exchanges.length} requests…`;
  const listing = await output.during(
    doing,
    wire.perform("GET", () => wire.account.client.list()),
  );
  const { value: list, error } = listing;
  showAnswer(error, account, (text) => output.warn(text));
  if (error !== undefined && ["UNREACHABLE", "UNAUTHORIZED"].includes(error.code)) throw error;
  findings.operation("list", listing);
  const report = (error?: CliError) => {
    findings.responses(wire.exchanges);
    printFindings(findings.all(), { output, baseUrl: account.origin.baseUrl, error });
  };
  if (list !== undefined) {
    findings.wholeList(list);
    const urls = urlsOf(url, newCheck(list.serverTime));
    const found = markedIn(list, url);
    const held = found.left.length === 0 ? new Set<string>() : await options.heldOf(found.left);
    for (const id of held) output.note(`${id}, of an earlier check, stays: a stack has it, or may have it.`);
    const marked = { ...found, left: found.left.filter((id) => !held.has(id)) };
    if (!(await ask(questionOf({ account, urls, marked })))) return "declined";
    const made = new Set(marked.left);
    const sets = { made, others: new Set<string>(), lost: new Set<string>() };
    const endpoints = { ...sets, clock, wire, urls, before: list };
    let isClean = false;
    onRegistering?.(() => (isClean ? undefined : leftover([...made], account)));
    const note = (text: string) => output.note(text);
    const work = check({ ...endpoints, findings, stopped, note });
    await output.during(doing, work).finally(async () => {
      const deleting = deleteAll(endpoints);
      const left = await output.during(() => "Deleting what the check has registered…", deleting);
      isClean = left.isClean;
      if (isClean) return;
      const error = new CliError("ENDPOINT_LEFT", leftover(left.ids, account));
      report(error);
      throw error;
    });
  }
  if (stopped.aborted) return "stopped";
  report();
  return findings.all().some(({ verdict }) => verdict === "differs") ? "differs" : "meets";
}
