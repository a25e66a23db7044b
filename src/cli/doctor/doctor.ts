import { Option } from "commander";
import { undefinedIfGone, type WebhookError } from "../../client/errors";
import { isPendingId } from "../../provider/identity";
import { CodedError } from "../../shared/codedError";
import { countOf } from "../../shared/words";
import { type Account, withAccount } from "../account";
import { type Inventory, inventoryOf } from "../inventory/inventory";
import type { Holder } from "../inventory/owner";
import { readStacks, type Stacks } from "../inventory/stacks";
import { jsonOption, stackOption } from "../options";
import type { Context, Subcommand } from "../run";
import { joined } from "../text";
import { readVersions, shownSettings } from "./environment";
import { findingsIn } from "./findings";

/** The service's clock comes in whole seconds. */
const CLOCK_PRECISION_MS = 1_000;

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
    const { account, inventory, gone, error } = await lookAtService(context, stacks);
    const endpoints = inventory?.list.endpoints.length ?? null;
    const serverTime = inventory?.list.serverTime ?? error?.serverTime ?? null;
    const clockDifferenceSeconds =
      serverTime && Math.round((serverTime + CLOCK_PRECISION_MS / 2 - Date.now()) / 1_000);
    const seen = { pulumi, stacks, versions, account, inventory, gone, error, clockDifferenceSeconds };
    const findings = [...findingsIn(seen)];

    const settings = account ? shownSettings(account, env) : [];
    const service = { endpoints, clockDifferenceSeconds };
    const names = stacks.known.map(({ name }) => name);
    output.data({ settings, service, stacks: names, versions, findings }, () => {
      const rows = settings.map(({ name, value, from }) => [name, value ?? "not set", from ?? "default"]);
      if (rows.length > 0) output.table(["SETTING", "VALUE", "FROM"], rows);
      if (endpoints !== null) output.line(`The service lists ${countOf(endpoints, "endpoint")}.`);
      if (clockDifferenceSeconds !== null)
        output.line(`The clocks differ by ${countOf(clockDifferenceSeconds, "second")}.`);
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

interface Look {
  account?: Account;
  inventory?: Inventory;
  /** What a state has, and the service has confirmed to have no longer. */
  gone: readonly Holder[];
  error?: CodedError & Partial<WebhookError>;
}

async function lookAtService(context: Context, stacks: Stacks): Promise<Look> {
  const look: Look = { gone: [] };
  try {
    await withAccount(context, async (account) => {
      look.account = account;
      const list = await context.output.during(() => "Waiting for the service…", account.client.list());
      look.inventory = inventoryOf(list, stacks, account);
      look.gone = await goneOf(look.inventory, account);
    });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    look.error = error;
  }
  return look;
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
