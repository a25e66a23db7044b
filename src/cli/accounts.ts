import { PROVIDER_NAME_KEY, settingText } from "../endpoint/settings";
import { type Deployment, plainText, plainValue, type Resource } from "../settlement/deployment";
import { isDefaultProvider, nameOf } from "../shared/urn";
import { CliError } from "./errors";
import type { Pulumi } from "./pulumi";
import { type Account, openAccount, readConfiguration, type StackConfiguration } from "./service";

/** The URN of a provider. Before the type stand those of its parents. */
const PROVIDER_URN = /^urn:pulumi:[^:]+::[^:]+::(.+\$)?pulumi:providers:(pulumi-nodejs|webhooks)::/;

/** The type of an explicit provider of the native plugin. Its inputs have the settings' names without "webhooks:". */
const NATIVE_PROVIDER_TYPE = "pulumi:providers:webhooks";

/**
 * The accounts of a stack's resources. A resource with an explicit provider uses that provider's settings as the state
 * holds them; the others use the stack's configuration, then the environment. The API keys stay in memory.
 */
export class Accounts {
  readonly #opened = new Map<string, Account>();

  private constructor(
    private readonly deployment: Deployment,
    private readonly pulumi: Pulumi,
    private readonly configuration: StackConfiguration,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @param deployment the state with its secrets decrypted */
  static async read(
    pulumi: Pulumi,
    deployment: Deployment,
    environment: NodeJS.ProcessEnv,
  ): Promise<Accounts> {
    return new Accounts(deployment, pulumi, await readConfiguration(pulumi), environment);
  }

  /**
   * Returns the account of a resource, or of the default provider.
   *
   * @throws CliError `SETTINGS_INVALID` or `STATE_UNREADABLE`
   */
  of(resource: Pick<Resource, "urn" | "provider"> | undefined): Account {
    const explicit = resource && this.#explicitProvider(resource);
    const key = explicit?.urn ?? "";
    const account =
      this.#opened.get(key) ??
      openAccount((name) => this.#setting(name, explicit), this.environment, this.pulumi);
    this.#opened.set(key, account);
    return account;
  }

  /** Returns the state's explicit providers that may have an account, each as what a resource names. */
  explicit(): Pick<Resource, "urn" | "provider">[] {
    return (this.deployment.resources ?? [])
      .filter(({ urn }) => PROVIDER_URN.test(urn) && !isEngineProvider(urn))
      .map(({ urn, id }) => ({ urn, provider: `${urn}::${id ?? ""}` }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(({ client }) => client.close()));
  }

  #setting(name: string, explicit: Resource | undefined): string | undefined {
    const ofStack = this.configuration[name]?.value;
    if (explicit === undefined) return ofStack;
    if (name === PROVIDER_NAME_KEY) return nameOf(explicit.urn);
    if (explicit.type !== NATIVE_PROVIDER_TYPE) return plainText(explicit.inputs, name);
    return settingText(plainValue(explicit.inputs, name.replace("webhooks:", ""))) || ofStack;
  }

  /** Returns whether an account is one that `of` has opened for an explicit provider. */
  isExplicit(account: Account): boolean {
    return [...this.#opened].some(([key, opened]) => key !== "" && opened === account);
  }

  /** Returns whether a resource names an explicit provider that the state no longer has. */
  isProviderGone({ provider }: Pick<Resource, "provider">): boolean {
    return isExplicitProvider(provider) && this.#found(provider) === undefined;
  }

  #found(provider: string): Resource | undefined {
    const { resources = [] } = this.deployment;
    const exact = resources.find((other) => `${other.urn}::${other.id ?? ""}` === provider);
    // After a destroy, the next `up` makes it again, with another id.
    return exact ?? resources.find(({ urn }) => urn === urnIn(provider));
  }

  #explicitProvider({ urn, provider }: Pick<Resource, "urn" | "provider">): Resource | undefined {
    if (!isExplicitProvider(provider)) return undefined;
    const found = this.#found(provider);
    if (found) return found;
    throw new CliError(
      "STATE_UNREADABLE",
      `the provider of ${urn} is not in the state, so its account is unknown. Find the operation with \`${this.pulumi.withStack("pulumi stack export")}\``,
    );
  }
}

function isExplicitProvider(provider: string | undefined): provider is string {
  return provider !== undefined && !isEngineProvider(urnIn(provider));
}

/** @param provider its URN and id, joined by "::" */
function urnIn(provider: string): string {
  return provider.slice(0, provider.lastIndexOf("::"));
}

/** The engine's own provider has no parent. One that a component declares may have the same name. */
function isEngineProvider(urn: string): boolean {
  const [, parents] = PROVIDER_URN.exec(urn) ?? [];
  return parents === undefined && isDefaultProvider(nameOf(urn));
}
