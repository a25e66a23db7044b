import { Option } from "commander";
import { undefinedIfGone } from "../../client/errors";
import { isPendingId } from "../../provider/identity";
import { CodedError } from "../../shared/codedError";
import { countOf } from "../../shared/words";
import { type Account, withAccount } from "../account";
import { type Inventory, inventoryOf } from "../inventory/inventory";
import type { Holder } from "../inventory/owner";
import { readStacks, type Stacks } from "../inventory/stacks";
import { jsonOption, stackOption } from "../options";
import type { Context, Subcommand } from "../run";
import { failure, readVersions, settingsFindings, shownSettings, versionFindings } from "./environment";
import {
  clockFindings,
  type Finding,
  gaps,
  goneFindings,
  joined,
  listFindings,
  stackFindings,
} from "./findings";

interface Flags {
  readonly all?: boolean;
}

export const doctor: Subcommand<Flags> = {
  description:
    "Checks where each setting comes from, whether the service answers and accepts the key, the clocks, the versions, and what the stacks of " +
    "this project recorded. It changes nothing. Each finding has a remedy to paste.",
  options: [
    new Option("--all", "look for owners in the stacks of the whole backend, not just of this project"),
    ...[stackOption(), jsonOption()],
  ],
  examples: ["doctor", "doctor --all --json"],
  async run(context, { all = false }) {
    const { output, env, pulumi } = context;
    const reading = [readVersions(pulumi, env), readStacks(context, { all })] as const;
    const [versions, stacks] = await Promise.all(reading);
    // The service knows by now what the states have.
    const { settings, inventory, shown } = await askService(context, stacks);
    const own = stacks.known.filter(({ isOwn }) => isOwn);
    const findings = [
      ...shown,
      ...gaps(stacks),
      ...own.flatMap((stack) => [...stackFindings(stack, inventory?.entries ?? [])]),
      ...versionFindings(versions),
    ];

    const endpoints = inventory?.list.endpoints.length ?? null;
    const names = stacks.known.map(({ name }) => name);
    output.data({ settings, endpoints, stacks: names, versions, findings }, () => {
      const rows = settings.map(({ name, value, from }) => [name, value ?? "not set", from ?? "default"]);
      if (rows.length > 0) output.table(["SETTING", "VALUE", "FROM"], rows);
      if (endpoints !== null) output.line(`The service lists ${countOf(endpoints, "endpoint")}.`);
      output.line(`Stacks read: ${joined(names) || "none"}.`);
      const found = Object.entries(versions).map(([what, version]) => `${what} ${version ?? "not found"}`);
      output.line(`Versions: ${found.join(", ")}.`);
      output.line();
      if (findings.length === 0) output.line("Everything is in order.", "green");
      for (const { level, code, message, remedy } of findings) {
        output.line(`${level}: ${message} (${code})`, level === "error" ? "red" : "yellow");
        output.line(`  ${remedy}`);
      }
    });
    return !findings.some(({ level }) => level === "error");
  },
};

interface Answers {
  settings: ReturnType<typeof shownSettings>;
  inventory?: Inventory;
  /** What the settings and the service's answers show. */
  readonly shown: Finding[];
}

async function askService(context: Context, stacks: Stacks): Promise<Answers> {
  const { output, env, pulumi } = context;
  const answers: Answers = { settings: [], shown: [] };
  try {
    await withAccount(context, async (account) => {
      answers.settings = shownSettings(account, env);
      answers.shown.push(...settingsFindings(account, pulumi, stacks));
      const list = await output.during(() => "Waiting for the service…", account.client.list());
      answers.shown.push(...clockFindings(list));
      const inventory = inventoryOf(list, stacks, account);
      const gone = await goneOf(inventory, account);
      answers.shown.push(...goneFindings(gone), ...listFindings(inventory, pulumi));
      answers.inventory = inventory;
    });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    answers.shown.unshift(failure(error, pulumi, stacks));
  }
  return answers;
}

/** Returns the managed endpoints of an account that the service has no longer. Only a complete list can show that. */
async function goneOf({ list, stacks }: Inventory, { client, origin }: Account): Promise<readonly Holder[]> {
  const listed = new Set([...list.endpoints, ...list.unrecognized].map(({ id }) => id));
  const own = stacks.known.filter(({ isOwn }) => isOwn && list.complete);
  const missing = own
    .flatMap((stack) => stack.state.endpoints.map((resource) => ({ stack, resource })))
    .filter(({ resource: { id = "", outputs, delete: isLeaving } }) => {
      const isOfAccount = outputs?.baseUrl === origin.baseUrl && outputs.account === origin.account;
      return isOfAccount && !isLeaving && !isPendingId(id) && !listed.has(id);
    });
  // A list may lag behind.
  const asked = missing.map(({ resource: { id = "" } }) => client.get(id).catch(undefinedIfGone));
  const answers = await Promise.all(asked);
  return missing.filter((_, at) => answers[at] === undefined);
}
