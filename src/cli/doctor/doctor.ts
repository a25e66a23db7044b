import { Option } from "commander";
import type { EndpointList } from "../../client";
import { undefinedIfGone, type WebhookError } from "../../client/errors";
import { CodedError } from "../../shared/codedError";
import { countOf } from "../../shared/words";
import { type Account, withAccount } from "../account";
import { inventoryOf } from "../inventory/inventory";
import { readStacks, type Stacks } from "../inventory/stacks";
import { jsonOption, stackOption } from "../options";
import { Pulumi } from "../pulumi";
import type { Context, Subcommand } from "../run";
import { joined } from "../text";
import { clockFindings, endpointFindings, type Finding } from "./findings";
import { apiKeyFindings, shownSettings } from "./settings";
import { accountFindings, goneFindings, missingFrom, stackFindings } from "./stateFindings";
import { readVersions, versionFindings } from "./versions";

/** The service's clock comes in whole seconds. */
const CLOCK_PRECISION_MS = 1_000;

interface Flags {
  readonly stack?: string;
  readonly json?: boolean;
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
  async run(context, { stack, all = false }) {
    const { output, env } = context;
    const pulumi = new Pulumi(context, stack);
    const reading = [readVersions(pulumi, env), readStacks(context, pulumi, { all })] as const;
    const [versions, stacks] = await Promise.all(reading);
    // What the states have is at the service by now.
    const { account, list, gone, error } = await lookAtService(context, stack, stacks);
    const inventory = account && list && inventoryOf(list, stacks, account);
    const difference = clockDifference(list?.serverTime ?? error?.serverTime ?? null);
    const findings = [
      ...(error ? [failure(error, pulumi, stacks)] : []),
      ...(account ? [...apiKeyFindings(account), ...accountFindings(stacks, account.origin)] : []),
      ...clockFindings(difference),
      ...stackFindings(stacks, inventory),
      ...goneFindings(gone),
      ...(inventory ? endpointFindings(inventory, pulumi.withStack) : []),
      ...versionFindings(versions),
    ];
    const settings = account ? shownSettings(account, env) : [];
    const service = { endpoints: list?.endpoints.length ?? null, clockDifferenceSeconds: difference };
    const names = stacks.known.map(({ name }) => name);
    output.data({ settings, service, stacks: names, versions, findings }, () => {
      const rows = settings.map(({ name, value, from }) => [name, value ?? "not set", from ?? "default"]);
      if (rows.length > 0) output.table(["SETTING", "VALUE", "FROM"], rows);
      if (list) output.line(`The service lists ${countOf(list.endpoints.length, "endpoint")}.`);
      if (difference !== null) output.line(`The clocks differ by ${countOf(difference, "second")}.`);
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

interface Seen {
  account?: Account;
  list?: EndpointList;
  /** What a state has and the service does not. */
  gone: ReturnType<typeof missingFrom>;
  error?: CodedError & Partial<WebhookError>;
}

async function lookAtService(context: Context, stack: string | undefined, stacks: Stacks): Promise<Seen> {
  const seen: Seen = { gone: [] };
  try {
    await withAccount(context, stack, async (account) => {
      const { client, origin } = account;
      seen.account = account;
      seen.list = await context.output.during(() => "Waiting for the service…", client.list());
      const missing = missingFrom(seen.list, stacks, origin);
      // A list may lag behind.
      const asked = missing.map(({ resource: { id = "" } }) => client.get(id).catch(undefinedIfGone));
      const found = await Promise.all(asked);
      seen.gone = missing.filter((_, at) => found[at] === undefined);
    });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    seen.error = error;
  }
  return seen;
}

/** Returns the service's clock less this machine's, in seconds; null if unknown. */
function clockDifference(serverTime: number | null): number | null {
  return serverTime && Math.round((serverTime + CLOCK_PRECISION_MS / 2 - Date.now()) / 1_000);
}

function failure({ code, reason }: CodedError, { withStack }: Pulumi, { known }: Stacks): Finding {
  const remedies: Readonly<Record<string, string>> = {
    UNAUTHORIZED: `${withStack("pulumi config set --secret webhooks:apiKey")}   # or correct WEBHOOKS_API_KEY`,
    SETTINGS_INVALID: known.some(({ isSelected }) => isSelected)
      ? `${withStack("pulumi config set webhooks:baseUrl https://api.example.com")}   # and what else the message names`
      : "pulumi stack select   # or set WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY",
  };
  const other = `${withStack("pulumi config")}   # check webhooks:baseUrl, follow the message, and run doctor again`;
  return { level: "error", code, message: reason, remedy: remedies[code] ?? other };
}
