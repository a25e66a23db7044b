import { type EndpointList, WebhookEndpointNotFoundError } from "../../../client";
import { describeOtherAccount, forgetting, keysOf } from "../../../provider/facts/account";
import type { Resource } from "../../../provider/facts/exportedState";
import { SETTING_NAMES, SETTINGS } from "../../../provider/settings";
import type { CodedError } from "../../../shared/codedError";
import { COMMAND, quoted } from "../../../shared/commandLine";
import { foreign } from "../../../shared/escape";
import type { Origin } from "../../../shared/permanent";
import { namesOf } from "../../../shared/urn";
import { LOST_STATE } from "../../docs";
import { lineOf } from "../../errors";
import { type KnownStack, recordedWithSettings, type Stacks, selectedIn } from "../../inventory/stacks";
import { NO_BACKEND, type Pulumi } from "../../pulumi";
import type { Context } from "../../run";
import { type Account, NO_SETTINGS } from "../../withAccount";
import { type Finding, found } from "./finding";
import { gettingStack } from "./stackFindings";

/** Returns the settings that are set, and the key of the configuration or the variable that each comes from. Of the API key, the value is its fingerprint. */
export function shownSettings({ configuration, origin }: Account, env: NodeJS.ProcessEnv) {
  return SETTING_NAMES.flatMap((name) => {
    const { variable } = SETTINGS[name];
    const inStack = configuration?.[`webhooks:${name}`]?.value;
    const value = name === "apiKey" ? `the fingerprint ${origin.account}` : inStack || env[variable];
    return value ? [{ name, value, from: inStack ? `webhooks:${name}` : variable }] : [];
  });
}

/** Probably nothing here is wrong. */
const TEMPORARY = /^(CONNECTION_LOST|RATE_LIMITED|SERVER_ERROR|TIMED_OUT|UNREACHABLE)$/;

/** Asks for the API key. */
export const KEY_COMMAND = "pulumi config set --secret webhooks:apiKey";

function storingKey(selected: KnownStack | undefined, { withStack }: Pulumi): string {
  return selected ? `${KEY_COMMAND} --stack ${quoted(selected.name)}` : withStack(KEY_COMMAND);
}

/** Returns the command that corrects the API key where it comes from. */
function correctingKey(
  account: Account | undefined,
  selected: KnownStack | undefined,
  pulumi: Pulumi,
): string {
  const isInStack = Boolean(account?.configuration?.["webhooks:apiKey"]?.value);
  return isInStack ? storingKey(selected, pulumi) : `export ${SETTINGS.apiKey.variable}=…`;
}

/** Returns the command that chooses a backend. The variable, where it is set, comes before a login. */
function goingTo({ PULUMI_BACKEND_URL }: NodeJS.ProcessEnv): string {
  return PULUMI_BACKEND_URL ? "export PULUMI_BACKEND_URL=…" : "pulumi login …";
}

/** Says why the settings could not be read, or the service not be asked. @param account undefined in the first case */
export function findingOf(
  error: CodedError,
  account: Account | undefined,
  { env, pulumi }: Pick<Context, "env" | "pulumi">,
  stacks: Stacks,
): Finding {
  const { code, detail } = error;
  const { withStack } = pulumi;
  const selected = selectedIn(stacks.known);
  const finding = { level: "error", code, message: lineOf(error) } as const;
  if (code === "UNAUTHORIZED")
    return {
      ...finding,
      remedy: `${correctingKey(account, selected, pulumi)}   # then pulumi up, before any refresh or destroy`,
    };
  if (TEMPORARY.test(code))
    return {
      ...finding,
      remedy: `${withStack(`${COMMAND} doctor`)}   # again, in a while; if it stays so, check webhooks:baseUrl: pulumi config`,
    };
  if (code === "PULUMI_FAILED" && detail.includes("passphrase"))
    return { ...finding, remedy: "export PULUMI_CONFIG_PASSPHRASE=…   # that of the stack" };
  if (code === "PULUMI_FAILED" && detail.includes(NO_BACKEND))
    return {
      ...finding,
      remedy: `${goingTo(env)}   # the backend that has the stack. If that is a folder, is it mounted?`,
    };
  // It would fail, too.
  if (code === "PULUMI_MISSING" || (code === "SETTINGS_INVALID" && detail.includes(NO_SETTINGS))) {
    const next = `then, in the folder of the program, pulumi stack select, or go to the backend that has the stack: ${goingTo(env)}`;
    return { ...finding, remedy: gettingStack(stacks, `${next}; if none has it, follow ${LOST_STATE}`) };
  }
  const shows =
    code === "REJECTED" ? "; webhooks:showResponses true lets pulumi show the service's reason" : "";
  const elsewhere =
    code === "MALFORMED_RESPONSE"
      ? "; if they are right, something else responds in the service's place, and gets the API key: ask its operator"
      : "";
  const remedy = `${withStack("pulumi config")}   # check these, follow the message, and run doctor again${shows}${elsewhere}`;
  return { ...finding, remedy };
}

/** Returns the fingerprints of the API keys of today's account, as the provider finds them. */
export function keysOfAccount({ client, origin }: Account, { known }: Stacks, list: EndpointList) {
  const resources = known.flatMap(({ state }) => state.endpoints);
  return keysOf(origin, resources, { list, get: (id) => client.get(id).catch(undefinedIfGone) });
}

/** @throws any other error than one that says that there is no such endpoint */
function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof WebhookEndpointNotFoundError)) throw error;
}

/**
 * Finds settings that hold a secret in plain text, or that lead elsewhere than those that the selected stack recorded.
 *
 * @param keys the fingerprints of those of today's account; undefined if the service could not be asked
 * @param stored where the settings lead that Pulumi stored at the last `pulumi up`; undefined if nobody knows
 */
export function* settingsFindings(
  account: Account,
  pulumi: Pulumi,
  { known }: Stacks,
  keys: ReadonlySet<string> | undefined,
  stored: Origin | undefined,
): Generator<Finding> {
  const selected = selectedIn(known);
  const { configuration, origin } = account;
  const { value, secret } = configuration?.["webhooks:apiKey"] ?? {};
  if (value && secret !== true)
    yield found("SETTINGS_INVALID", {
      message:
        "webhooks:apiKey is stored without --secret, so the stack's file holds the API key in plain text",
      remedy: `${storingKey(selected, pulumi)}   # with a new key, if the file was committed`,
    });
  if (selected === undefined) return;
  const name = quoted(selected.name);
  const recorded = recordedWithSettings(selected);
  const baseUrlOf = ({ outputs }: Resource) => String(outputs?.baseUrl ?? origin.baseUrl);
  const moved = recorded.filter((each) => baseUrlOf(each) !== origin.baseUrl);
  if (moved[0] !== undefined) {
    const baseUrl = baseUrlOf(moved[0]);
    yield found("OTHER_BASE_URL", {
      message: `the stack ${selected.name} registered ${namesOf(moved)} at ${foreign(baseUrl)}, and today's base URL is ${origin.baseUrl}`,
      remedy: `pulumi config set webhooks:baseUrl ${quoted(baseUrl)} --stack ${name}   # unless the service has moved. Then pulumi up in any case: a run with the wrong one may have stored that`,
    });
  }
  const accountOf = ({ outputs }: Resource) => String(outputs?.account ?? origin.account);
  const strangers = recorded.filter(
    (each) => baseUrlOf(each) === origin.baseUrl && keys?.has(accountOf(each)) === false,
  );
  if (strangers[0] !== undefined)
    yield found("OTHER_ACCOUNT", {
      message: `${describeOtherAccount(`the stack ${selected.name}`, foreign(accountOf(strangers[0])), origin.account)} (${namesOf(strangers)})`,
      remedy: `${correctingKey(account, selected, pulumi)}   # the key of before (fingerprint ${foreign(accountOf(strangers[0]))}); then pulumi up. To move to another account, give the endpoints a WebhooksProvider with a new name after that`,
      otherwise: `# instead, only if it is the same account, and all of them were deleted there; then pulumi up:\n${forgetting(
        strangers.map(({ urn }) => urn),
        ` --stack ${name}`,
      )}`,
    });
  // Until that is corrected, a run must not store today's settings.
  else if (moved[0] === undefined && stored !== undefined && !isSameOrigin(stored, origin))
    yield found("SETTINGS_OUTDATED", {
      message: `the last run of the stack ${selected.name} stored ${describeStored(stored, origin)}: pulumi refresh and pulumi destroy use that, and so do the deletions of a move`,
      remedy: `pulumi up --stack ${name}   # before any refresh, destroy or move to another provider`,
    });
}

function isSameOrigin(one: Origin, other: Origin): boolean {
  return one.account === other.account && one.baseUrl === other.baseUrl;
}

function describeStored(stored: Origin, today: Origin): string {
  return stored.baseUrl === today.baseUrl
    ? `another API key (fingerprint ${stored.account}) than today's (${today.account})`
    : `another base URL (${foreign(stored.baseUrl)}) than today's (${today.baseUrl})`;
}
