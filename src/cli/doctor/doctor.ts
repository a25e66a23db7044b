import { Option } from "commander";
import type { EndpointList, WebhookError } from "../../client";
import { undefinedIfGone } from "../../client/errors";
import { CodedError } from "../../shared/codedError";
import { type Account, withAccount } from "../account";
import { type Inventory, inventoryOf } from "../inventory/inventory";
import { readStacks, type Stacks } from "../inventory/stacks";
import { jsonOption, stackOption } from "../options";
import { Pulumi } from "../pulumi";
import type { Context, Subcommand } from "../run";
import { clockFindings, endpointFindings, type Finding } from "./findings";
import { apiKeyFindings, type ShownSetting, shownSettings } from "./settings";
import { accountFindings, goneFindings, missingFrom, stackFindings } from "./stateFindings";
import { readVersions, type Versions, versionFindings } from "./versions";

/** The service's clock comes in whole seconds. */
const CLOCK_PRECISION_MS = 1_000;
/** How many stacks are named. */
const MOST_NAMED = 10;

interface Flags {
  readonly stack?: string;
  readonly json?: boolean;
  readonly all?: boolean;
}

/** How the service answered; null for what is unknown. */
interface ServiceHealth {
  readonly reachable: boolean | null;
  readonly keyAccepted: boolean | null;
  /** The service's clock less this machine's. */
  readonly clockDifferenceSeconds: number | null;
  readonly endpoints: number | null;
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
    const pulumi = new Pulumi(context, stack);
    const [versions, stacks] = await Promise.all([
      readVersions(pulumi, context.env),
      readStacks(context, pulumi, { all }),
    ]);
    const seen = await lookAtService(context, stack, stacks);
    const { inventory, account, gone, health, failures } = seen;
    const findings = [
      ...failures,
      ...(account === undefined
        ? []
        : [...apiKeyFindings(account), ...accountFindings(stacks, account.origin)]),
      ...clockFindings(health.clockDifferenceSeconds),
      ...stackFindings(stacks, inventory),
      ...goneFindings(gone),
      ...(inventory === undefined ? [] : endpointFindings(inventory, pulumi.withStack)),
      ...versionFindings(versions),
    ];
    const settings = account === undefined ? {} : shownSettings(account, context.env);
    const names = stacks.known.map(({ name }) => name);
    context.output.data({ settings, service: health, stacks: names, versions, findings }, () => {
      print(context, { settings, health, names, versions, findings });
    });
    return !findings.some(({ level }) => level === "error");
  },
};

interface Seen {
  readonly account: Account | undefined;
  readonly inventory: Inventory | undefined;
  readonly gone: ReturnType<typeof missingFrom>;
  readonly health: ServiceHealth;
  /** Why there is no list. */
  readonly failures: readonly Finding[];
}

/** Lists the endpoints, after the states were read: what those have is at the service by then. A failure is a finding. */
async function lookAtService(context: Context, stack: string | undefined, stacks: Stacks): Promise<Seen> {
  let account: Account | undefined;
  let list: EndpointList | undefined;
  try {
    return await withAccount(context, stack, async (opened) => {
      account = opened;
      list = await context.output.during(() => "Waiting for the service…", opened.client.list());
      const missing = missingFrom(list, stacks, opened.origin);
      const gone = await confirmed(missing, opened);
      const health = {
        ...healthOf(list.serverTime),
        reachable: true,
        keyAccepted: true,
        endpoints: list.endpoints.length,
      };
      return { account, inventory: inventoryOf(list, stacks, opened), gone, health, failures: [] };
    });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const { code, reason, statusCode, serverTime = null } = error as CodedError & Partial<WebhookError>;
    const health = {
      ...healthOf(serverTime),
      reachable: account === undefined ? null : statusCode !== undefined,
      keyAccepted: code === "UNAUTHORIZED" ? false : null,
    };
    const failure = {
      level: "error",
      code,
      message: reason,
      remedy: remedyFor(code, new Pulumi(context, stack), stacks),
    } as const;
    return { account, inventory: undefined, gone: [], health, failures: [failure] };
  }
}

/** A list may lag behind. Returns what a get does not find either. @throws WebhookError */
async function confirmed(missing: Seen["gone"], { client }: Account): Promise<Seen["gone"]> {
  const found = await Promise.all(
    missing.map(({ resource: { id = "" } }) => client.get(id).catch(undefinedIfGone)),
  );
  return missing.filter((_, at) => found[at] === undefined);
}

function healthOf(serverTime: number | null): ServiceHealth {
  const difference = serverTime === null ? null : (serverTime + CLOCK_PRECISION_MS / 2 - Date.now()) / 1_000;
  return {
    ...{ reachable: null, keyAccepted: null, endpoints: null },
    clockDifferenceSeconds: difference === null ? null : Math.round(difference),
  };
}

function remedyFor(code: string, { withStack }: Pulumi, { known }: Stacks): string {
  if (code === "UNAUTHORIZED")
    return `${withStack("pulumi config set --secret webhooks:apiKey")}   # or correct WEBHOOKS_API_KEY`;
  if (code !== "SETTINGS_INVALID")
    return `${withStack("pulumi config")}   # check webhooks:baseUrl, follow the message, and run doctor again`;
  return known.some(({ isSelected }) => isSelected)
    ? `${withStack("pulumi config set webhooks:baseUrl https://api.example.com")}   # and what else the message names`
    : "pulumi stack select   # or set WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY";
}

interface Printed {
  readonly settings: Readonly<Record<string, ShownSetting>>;
  readonly health: ServiceHealth;
  readonly names: readonly string[];
  readonly versions: Versions;
  readonly findings: readonly Finding[];
}

function print({ output }: Context, { settings, health, names, versions, findings }: Printed): void {
  const known = (value: string | number | null) => value?.toString() ?? "unknown";
  const answer = (value: boolean | null) => (value === null ? "unknown" : value ? "yes" : "no");
  const rows = Object.entries(settings).map(([name, { value, from, fingerprint }]) => [
    name,
    fingerprint === undefined
      ? (value ?? (from === null ? "not set" : "set"))
      : `set (fingerprint ${fingerprint})`,
    from ?? "default",
  ]);
  if (rows.length > 0) output.table(["SETTING", "VALUE", "FROM"], rows);
  output.line();
  output.table(
    ["CHECK", "RESULT"],
    [
      ["service reachable", answer(health.reachable)],
      ["key accepted", answer(health.keyAccepted)],
      [
        "clock difference",
        health.clockDifferenceSeconds === null ? "unknown" : `${health.clockDifferenceSeconds} s`,
      ],
      ["endpoints", known(health.endpoints)],
      ["stacks read", names.length > MOST_NAMED ? String(names.length) : names.join(", ") || "none"],
      [
        "versions",
        `${versions.package}, Node.js ${versions.node}, Pulumi ${known(versions.pulumi)}, SDK ${known(versions.sdk)}`,
      ],
    ],
  );
  output.line();
  if (findings.length === 0) output.line("Everything is in order.", "green");
  for (const { level, code, message, remedy } of findings) {
    output.line(`${level}: ${message} (${code})`, level === "error" ? "red" : "yellow");
    output.line(`  ${remedy}`);
  }
}
