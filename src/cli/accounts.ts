import { WebhooksClient } from "../client";
import { type Origin, originOf } from "../endpoint/origin";
import { resolveSettings } from "../endpoint/settings";
import { type Deployment, nameOf, plainText, type Resource } from "./deployment";
import { CliError, type Pulumi } from "./pulumi";

/** Where a resource's endpoint is, and a client that speaks to it. */
export interface Account {
  readonly origin: Origin;
  readonly client: WebhooksClient;
}

/**
 * The account of each resource: of its explicit provider as the state holds it, else of the stack's configuration and the
 * environment. Its secrets stay in memory.
 */
export async function openAccounts(pulumi: Pulumi, deployment: Deployment, environment: NodeJS.ProcessEnv) {
  const shown: Record<string, { value?: string }> = JSON.parse(
    await pulumi.output(["config", "--json", "--show-secrets"]),
  );
  const accounts = new Map<string, Account>();

  return function accountOf({ provider = "" }: Resource): Account {
    const explicit = (deployment.resources ?? []).find(
      ({ urn, id }) => provider === `${urn}::${id ?? ""}` && !nameOf(urn).startsWith("default"),
    );
    const key = explicit ? provider : "";
    const known = accounts.get(key);
    if (known) return known;
    const resolved = resolveSettings(
      (name) => (explicit ? plainText(explicit.inputs, name) : shown[name]?.value),
      environment,
    );
    if ("problems" in resolved) throw new CliError("SETTINGS_INVALID", resolved.problems.join("; "));
    const { timeoutSeconds, ...settings } = resolved.settings;
    const client = new WebhooksClient({ ...settings, timeoutMs: timeoutSeconds * 1000 });
    const account = { origin: originOf(settings), client };
    accounts.set(key, account);
    return account;
  };
}
