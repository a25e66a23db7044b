import { systemClock } from "../../client/clock";
import { CodedError } from "../../shared/codedError";
import { AccountService } from "../accountService";
import { CliError } from "../errors";
import { type InventoryOptions, inventoryOf } from "../inventory/inventory";
import { Ownership } from "../inventory/ownership";
import { readStacks } from "../inventory/stacks";
import type { Found, Pulumi } from "../oldPulumi";
import {
  findConfiguration,
  openAccount,
  type StackConfiguration,
  settingsIn,
  showAnswer,
  whyUnknown,
} from "../service";
import { endpointFindings } from "./endpointFindings";
import { error, type Finding, note } from "./finding";
import { goneFindings } from "./goneFindings";
import { leftoverFindings } from "./leftoverFindings";
import { type ShownSettings, shownSettings } from "./settings";
import { originFindings, stackFindings } from "./stateFindings";
import { findCli, type Versions, versionFindings, versionsIn } from "./versions";

/** How far the clocks may be apart before it is an error, in seconds. Receivers accept five minutes by default. */
const MAX_CLOCK_DIFFERENCE = 60;

/** The service's clock comes in a `Date` header, which has whole seconds. */
const CLOCK_PRECISION_MS = 1_000;

const PULUMI_REMEDY = "Correct what the message names.";
const SERVICE_REMEDY = "Follow the message, and run the command again.";
const SETTINGS_REMEDY = "Set what is missing, and correct what is invalid.";
const UNKNOWN_SETTINGS_REMEDY =
  "In the folder of a Pulumi program, select a stack with `pulumi stack select`, or name one with --stack. To do without a stack, " +
  "set WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY.";

export interface DiagnoseOptions extends InventoryOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** The program's folder. */
  readonly folder: string;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

export interface Diagnosis {
  readonly settings: ShownSettings;
  readonly service: ServiceHealth;
  /** The stacks that were read. */
  readonly stacks: readonly string[];
  readonly versions: Versions;
  readonly findings: readonly Finding[];
}

/** How the service answered; null for what is unknown. */
interface ServiceHealth {
  readonly reachable: boolean | null;
  readonly keyAccepted: boolean | null;
  /** The service's clock less this machine's. */
  readonly clockDifferenceSeconds: number | null;
  readonly endpoints: number | null;
}

/** Checks everything at once: a part that fails is a finding, and the others go on. */
export function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  let progress = "Reading the settings…";
  const work = diagnoseAll(options, (text) => {
    progress = text;
  });
  return options.output.during(() => progress, work);
}

async function diagnoseAll(options: DiagnoseOptions, onStep: (text: string) => void): Promise<Diagnosis> {
  const { pulumi, environment, folder, now, projectOnly = false } = options;
  const findings: Finding[] = [];
  /** Returns undefined after a failure, which is then a finding. */
  const attempt = async <T>(remedy: string, part: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await part();
    } catch (failure) {
      findings.push(findingOf(failure, remedy, pulumi));
      return undefined;
    }
  };

  const cli = await attempt(PULUMI_REMEDY, () => findCli(pulumi));
  const versions = versionsIn(folder, cli?.value);
  // Without a CLI, the environment decides. With one that fails, the settings are unknown.
  const found: Found<StackConfiguration> | undefined =
    cli?.value === undefined ? cli : await attempt(PULUMI_REMEDY, () => findConfiguration(pulumi));
  const settings = shownSettings(found, environment);
  const why = found && whyUnknown(found, environment);
  const account = await attempt(why === undefined ? SETTINGS_REMEDY : UNKNOWN_SETTINGS_REMEDY, async () => {
    if (why !== undefined) throw new CliError("SETTINGS_INVALID", why);
    // A configuration that cannot be read may hold the settings.
    return found && openAccount(settingsIn(found), environment, pulumi);
  });
  const clock = { ...systemClock, date: now };
  const asked = account && new AccountService(account.client, clock);
  onStep("Waiting for the service…");
  const { list, failure, ...service } = await askService(asked, { attempt, now });
  if (account) showAnswer(failure, account, (text) => options.output.warn(text));
  const stacks = await readStacks(pulumi, options, (read, all) =>
    onStep(`Reading the states: ${read} of ${all} stacks read.`),
  );
  // A stack of another project has a doctor of its own.
  const own = stacks.known.filter(({ isOwn }) => isOwn);
  if (cli?.absence !== undefined)
    findings.push(
      note("CLI_MISSING", cli.absence, "To look into stacks, install the Pulumi CLI and put it on PATH."),
    );
  else if (stacks.absence !== undefined)
    findings.push(
      note(
        "NO_STACK",
        `no stack was looked into, because ${stacks.absence}`,
        "Run the command in the folder of a Pulumi program that has a stack.",
      ),
    );
  const sources = account && asked && { account, service: asked, pulumi, environment, clock };
  const inventory = sources && list && (await inventoryOf(list, stacks, { ...sources, projectOnly }));
  onStep("Looking up what the stacks recorded…");
  const gone = sources && list && (await attempt(SERVICE_REMEDY, () => goneFindings(list, own, sources)));
  const left =
    sources &&
    list &&
    (await attempt(SERVICE_REMEDY, () =>
      leftoverFindings(own, { ...sources, owners: new Ownership(stacks.known, sources.account.origin) }),
    ));
  await account?.client.close();
  findings.push(
    ...clockFindings(service),
    ...(account ? originFindings(stacks, account, { inventory, baseUrl: settings.baseUrl.value }) : []),
    ...(left ?? []),
    ...stackFindings({ ...(inventory?.stacks ?? stacks), known: own }),
    ...(gone ?? []),
    ...(inventory ? endpointFindings(inventory, { projectOnly, withStack: pulumi.withStack }) : []),
    ...versionFindings(versions),
  );
  return { settings, service, stacks: stacks.known.map(({ name }) => name), versions, findings };
}

interface Attempt {
  readonly attempt: <T>(remedy: string, part: () => Promise<T>) => Promise<T | undefined>;
  readonly now: () => number;
}

async function askService(asked: AccountService | undefined, { attempt, now }: Attempt) {
  let failure: unknown;
  const list = await attempt(SERVICE_REMEDY, async () => {
    try {
      return await asked?.list();
    } catch (error) {
      failure = error;
      throw error;
    }
  });
  const { code, statusCode } = (failure ?? {}) as { code?: string; statusCode?: number };
  const isAnswered = list !== undefined || statusCode !== undefined;
  const serverTime =
    list?.serverTime ?? (failure as { serverTime?: number | null } | undefined)?.serverTime ?? null;
  return {
    list,
    failure,
    reachable: asked === undefined ? null : isAnswered,
    keyAccepted: list !== undefined ? true : code === "UNAUTHORIZED" ? false : null,
    clockDifferenceSeconds:
      serverTime === null ? null : Math.round((serverTime + CLOCK_PRECISION_MS / 2 - now()) / 1_000),
    endpoints: list?.endpoints.length ?? null,
  };
}

function findingOf(failure: unknown, remedy: string, pulumi: Pulumi): Finding {
  if (failure instanceof CodedError) {
    const { code, reason: message } = failure;
    return { level: "error", code, message, remedy: code === "UNAUTHORIZED" ? keyRemedy(pulumi) : remedy };
  }
  const message = failure instanceof Error ? failure.message : String(failure);
  return { level: "error", code: "UNEXPECTED", message, remedy };
}

function keyRemedy(pulumi: Pulumi): string {
  return (
    `Set webhooks:apiKey to a key that the service accepts, with \`${pulumi.withStack("pulumi config set --secret webhooks:apiKey")}\`. If ` +
    "the key comes from the environment, correct WEBHOOKS_API_KEY."
  );
}

function clockFindings({ clockDifferenceSeconds: seconds }: ServiceHealth): Finding[] {
  if (seconds === null || Math.abs(seconds) <= MAX_CLOCK_DIFFERENCE) return [];
  return [
    error(
      "CLOCK_DIFFERS",
      `this machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} the service's`,
      "Synchronize this machine's clock. Receivers refuse deliveries whose timestamp is more than 300 s off.",
    ),
  ];
}
