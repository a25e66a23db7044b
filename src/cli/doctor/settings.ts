import type { EndpointList } from "../../client";
import { isPendingId } from "../../provider/facts/identity";
import { providerNameOf, type Resource, wantedBy } from "../../provider/facts/resource";
import { ENVIRONMENT_NAMES, SETTING_NAMES } from "../../provider/settings";
import type { CodedError } from "../../shared/codedError";
import { foreign } from "../../shared/escape";
import type { Origin } from "../../shared/permanent";
import { nameOf } from "../../shared/urn";
import { COMMAND, joined, quoted } from "../../shared/words";
import { type Account, NO_SETTINGS } from "../account";
import { LOST_STATE } from "../docs";
import type { KnownStack, Stacks } from "../inventory/stacks";
import type { Pulumi } from "../pulumi";
import { type Finding, found } from "./findings";

/** Returns the settings that are set, and the key of the configuration or the variable that each comes from. Of the API key, the value is its fingerprint. */
export function shownSettings({ configuration, origin }: Account, env: NodeJS.ProcessEnv) {
  return SETTING_NAMES.flatMap((name) => {
    const variable = ENVIRONMENT_NAMES[name];
    const inStack = configuration?.[`webhooks:${name}`]?.value;
    const value = name === "apiKey" ? `the fingerprint ${origin.account}` : inStack || env[variable];
    return value ? [{ name, value, from: inStack ? `webhooks:${name}` : variable }] : [];
  });
}

/** Probably nothing here is wrong. */
const TEMPORARY = /^(CONNECTION_LOST|RATE_LIMITED|SERVER_ERROR|TIMED_OUT|UNREACHABLE)$/;

/** Says why the settings could not be read, or the service not be asked. */
export function findingOf({ code, detail }: CodedError, { withStack }: Pulumi): Finding {
  const finding = { level: "error", code, message: detail } as const;
  if (code === "UNAUTHORIZED") {
    const command = withStack("pulumi config set --secret webhooks:apiKey");
    return { ...finding, remedy: `${command}   # or correct WEBHOOKS_API_KEY` };
  }
  if (TEMPORARY.test(code))
    return {
      ...finding,
      remedy: `${withStack(`${COMMAND} doctor`)}   # again, in a while; if it stays so, check webhooks:baseUrl: pulumi config`,
    };
  if (code === "PULUMI_FAILED" && detail.includes("passphrase"))
    return { ...finding, remedy: "export PULUMI_CONFIG_PASSPHRASE=…   # that of the stack" };
  // It would fail, too.
  if (code === "SETTINGS_INVALID" && detail.includes(NO_SETTINGS))
    return {
      ...finding,
      remedy: `pulumi stack ls --all   # then pulumi stack select, or pulumi login to the backend that has the stack; if none has it, follow ${LOST_STATE}`,
    };
  const remedy = `${withStack("pulumi config")}   # check these, follow the message, and run doctor again`;
  return { ...finding, remedy };
}

const LAST_KEY =
  "whether refresh and destroy have today's API key, as after `pulumi up`: run that, then `pulumi refresh`, which shows it";

/** Returns what doctor did not see. @param own the stacks of this project @param origin the account that it asked, if it could */
export function notCheckedIn(
  own: readonly KnownStack[],
  origin: Origin | undefined,
  { withStack }: Pulumi,
): string[] {
  const deployed = own.flatMap(({ state }) => state.endpoints);
  const selected = own.find(({ isSelected }) => isSelected)?.state.endpoints ?? [];
  const [url = "https://hooks.example.com/jobs"] = selected.flatMap((each) => wantedBy(each)?.url ?? []);
  const probe = withStack(`${COMMAND} probe ${quoted(url)}`);
  const accounts = deployed.flatMap((each) => {
    const name = providerNameOf(each);
    if (each.outputs?.account === origin?.account) return [];
    if (name === undefined) return origin === undefined ? [] : [LAST_KEY];
    const settings = `WEBHOOKS_BASE_URL=${quoted(String(each.outputs?.baseUrl))} WEBHOOKS_API_KEY=…`;
    return [`the account of the WebhooksProvider ${name}: export ${settings}`];
  });
  const receivers = `whether receivers run, and have the secret that the service signs with: ${probe}`;
  return [...(deployed.length === 0 ? [] : [receivers]), ...new Set(accounts)];
}

/**
 * Returns the fingerprints of the API keys of today's account: that of today's key, and those that were recorded with endpoints that the
 * service lists today, as before a rotation.
 */
export function keysOfAccount(origin: Origin, { known }: Stacks, { endpoints }: EndpointList) {
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const recorded = known.flatMap(({ state }) =>
    state.endpoints.filter(({ id = "", outputs }) => {
      const listed = byId.get(id);
      return (
        listed !== undefined &&
        outputs?.baseUrl === origin.baseUrl &&
        state.holderOf(listed, origin)?.kind === "own"
      );
    }),
  );
  return new Set<unknown>([origin.account, ...recorded.map(({ outputs }) => outputs?.account)]);
}

/**
 * Finds settings that hold a secret in plain text, or that lead elsewhere than those that the selected stack recorded.
 *
 * @param keys the fingerprints of those of today's account
 */
export function* settingsFindings(
  { configuration, origin }: Account,
  { withStack }: Pulumi,
  { known }: Stacks,
  keys: ReadonlySet<unknown>,
): Generator<Finding> {
  const { value, secret } = configuration?.["webhooks:apiKey"] ?? {};
  if (value && secret !== true)
    yield {
      level: "error",
      code: "SETTINGS_INVALID",
      message:
        "webhooks:apiKey is stored without --secret, so the stack's file holds the API key in plain text",
      remedy: `${withStack("pulumi config set --secret webhooks:apiKey")}   # with a new key, if the file was committed`,
    };
  const originOf = ({ outputs }: Resource) =>
    ({ ...origin, ...outputs }) as Pick<Origin, "baseUrl" | "account">;
  const selected = known.find(({ isSelected }) => isSelected);
  if (selected === undefined) return;
  const others = selected.state.endpoints.filter((each) => {
    const { baseUrl, account } = originOf(each);
    const isSame = baseUrl === origin.baseUrl && keys.has(account);
    return !isSame && providerNameOf(each) === undefined && !isPendingId(each.id ?? "");
  });
  if (others[0] === undefined) return;
  const { baseUrl, account } = originOf(others[0]);
  const name = quoted(selected.name);
  yield found("OTHER_ACCOUNT", {
    message:
      `the stack ${selected.name} registered ${joined(others.map(({ urn }) => nameOf(urn)))} at ${foreign(baseUrl)} with the API key ${foreign(account)}, ` +
      `and today's settings are ${origin.baseUrl} and ${origin.account} (the keys' fingerprints)`,
    remedy:
      baseUrl === origin.baseUrl
        ? `pulumi preview --stack ${name}   # shows what would be registered again; if that is not meant, restore the key`
        : `pulumi config set webhooks:baseUrl ${quoted(baseUrl)} --stack ${name}   # unless the service has moved: then pulumi up`,
  });
}
