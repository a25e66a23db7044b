import type { EndpointList } from "../../../client";
import { CodedError } from "../../../shared/codedError";
import { COMMAND } from "../../../shared/commandLine";
import { countOf, joined } from "../../../shared/words";
import { existenceIn } from "../../existence";
import { type Entry, inventoryOf } from "../../inventory/inventory";
import { readStacks, selectedIn } from "../../inventory/stacks";
import { allOption, jsonOption, stackOption } from "../../options";
import type { Pulumi } from "../../pulumi";
import type { Context, Subcommand } from "../../run";
import { type Account, withAccount } from "../../withAccount";
import type { Finding } from "./finding";
import { type Gone, goneOf, withSuccessors } from "./gone";
import { listFindings } from "./listFindings";
import { notCheckedIn } from "./notChecked";
import { findingOf, KEY_COMMAND, keysOfAccount, settingsFindings, shownSettings } from "./settingsFindings";
import { gaps, stackFindings } from "./stackFindings";
import { storedOrigin } from "./storedSettings";
import { readVersions, versionFindings } from "./versions";

/** The commands of remedies that ask before they do something. */
const ASKS =
  /\b(pulumi (up|destroy|refresh(?! --clear)|state delete(?! --yes))|npx \S+ (delete|check-service))\b/g;

/** Without a terminal or a pipe, this command stores an empty key, and says nothing. */
const ASKS_FOR_KEY = new RegExp(`^${KEY_COMMAND}`);

interface Flags {
  readonly all?: boolean;
}

export const doctor: Subcommand<Flags> = {
  summary: "check the settings, the service and the stacks, and say what to do",
  description:
    "Checks where each setting comes from, whether the service responds and accepts the key, the clocks, the versions, and what the stacks " +
    "of this project recorded. It changes nothing. Each finding has a remedy to paste.",
  options: [allOption(), stackOption(), jsonOption()],
  examples: ["doctor", "doctor --all --json"],
  async run(context, { all = false }) {
    const { output, env, pulumi } = context;
    const reading = [readVersions(pulumi), readStacks(context, { all, asksWork: true })] as const;
    const [versions, stacks] = await Promise.all(reading);
    const own = stacks.known.filter(({ isOwn }) => isOwn);
    const settings: ReturnType<typeof shownSettings> = [];
    let findings: Finding[] = [];
    let entries: readonly Entry[] = [];
    let gone: readonly Gone[] = [];
    let account: Account | undefined;
    // The list is newer than the states, so it has what they have.
    const asking = withAccount(context, async (opened) => {
      account = opened;
      settings.push(...shownSettings(account, env));
      let list: EndpointList;
      let keys: Set<string> | undefined;
      let stored: Account["origin"] | undefined;
      const selected = selectedIn(own);
      const storing = selected?.work.mayRun === false ? storedOrigin(context, selected) : undefined;
      const listing = output.during(() => "Waiting for the service…", account.client.list());
      try {
        [list, stored] = await Promise.all([listing, storing]);
        keys = await keysOfAccount(account, stacks, list);
      } finally {
        findings.push(...settingsFindings(account, pulumi, stacks, keys, stored));
      }
      const inventory = inventoryOf(list, stacks, account.connection.timeoutMs);
      entries = inventory.entries;
      try {
        const missing = await goneOf(list, own, account, keys, existenceIn(account, context));
        gone = withSuccessors(missing, inventory);
      } finally {
        findings.push(...listFindings(inventory, pulumi, gone));
      }
      return list.endpoints.length;
    });
    let blocked: string | undefined;
    const endpoints = await asking.catch((error) => {
      if (!(error instanceof CodedError)) throw error;
      const finding = findingOf(error, account, context, stacks);
      // What fails at another base URL than the recorded one, fails because of it.
      const at = findings.findIndex(({ code }) => code === "OTHER_BASE_URL") + 1;
      findings.splice(
        at,
        0,
        at === 0 ? finding : { ...finding, remedy: againAfter("OTHER_BASE_URL", pulumi) },
      );
      blocked = error.code;
      return null;
    });
    const ofStacks = own.flatMap((stack) => [...stackFindings(stack, entries, gone)]);
    findings = [
      ...findings,
      ...gaps(stacks, account !== undefined),
      ...ofStacks,
      ...versionFindings(versions),
    ];
    // Errors come before notes.
    findings.sort((a, b) => a.level.localeCompare(b.level));
    const shown = findings.map(({ otherwise, ...each }) => ({
      ...each,
      remedy: toPaste(each.remedy, context, blocked),
      // The other way needs the service, too.
      ...(otherwise !== undefined && !blocked && { otherwise: toPaste(otherwise, context, undefined) }),
    }));
    const notChecked = notCheckedIn(own, account, pulumi, all).map((each) =>
      toPaste(each, context, undefined),
    );

    const names = stacks.known.map(({ name }) => name);
    output.data({ settings, endpoints, stacks: names, versions, findings: shown, notChecked }, () => {
      const rows = settings.map(({ name, value, from }) => [name, value, from]);
      if (rows.length > 0) output.table(["SETTING", "VALUE", "FROM"], rows);
      if (endpoints !== null) output.line(`The service lists ${countOf(endpoints, "endpoint")}.`);
      output.line(`Stacks read: ${joined(names) || "none"}.`);
      const found = Object.entries(versions).map(([what, version]) => `${what} ${version ?? "not found"}`);
      output.line(`Versions: ${found.join(", ")}.`);
      output.line();
      if (shown.length === 0) output.line("Everything that was checked is in order.", "green");
      for (const { level, code, message, remedy, otherwise } of shown) {
        output.line(`${level}: ${message} (${code})`, level === "error" ? "red" : "yellow");
        output.line(`  ${remedy}`);
        for (const line of otherwise?.split("\n") ?? []) output.line(`  ${line}`);
      }
      output.line();
      for (const each of notChecked) output.line(`Not checked: ${each}`);
    });
    return !findings.some(({ level }) => level === "error");
  },
};

/**
 * Returns a remedy that works here. Without a terminal nobody can be asked. A run needs the service; and so does the end of an interrupted one,
 * because what that made must be found before the run is forgotten.
 *
 * @param blocked why the service cannot be asked
 */
function toPaste(remedy: string, { pulumi, terminal }: Context, blocked: string | undefined): string {
  if (blocked !== undefined && /^pulumi (cancel .* && pulumi )?(up|preview|refresh)/.test(remedy))
    return againAfter(blocked, pulumi);
  if (terminal.isInteractive) return remedy;
  // An empty variable would be stored as an empty key.
  const piped =
    process.platform === "win32" ? "type key.txt" : `: "\${KEY:?is to hold the API key}" && printf %s "$KEY"`;
  return remedy.replace(ASKS, "$& --yes").replace(ASKS_FOR_KEY, () => `${piped} | ${KEY_COMMAND}`);
}

function againAfter(code: string, { withStack }: Pulumi): string {
  return `${withStack(`${COMMAND} doctor`)}   # again, once ${code} is resolved`;
}
