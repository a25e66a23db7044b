import {
  DEFAULT_API_KEY,
  type EmulatedEndpoint,
  type Emulator,
  type EmulatorOptions,
  startEmulator,
} from "../../src/emulator";
import { PROVIDER_NAME_KEY } from "../../src/provider/settings";
import { sameUrl } from "../../src/shared/url";
import { deploymentOf, historyOf } from "./checkpoint";
import { type Change, Disguise } from "./disguise";
import { type Declared, nameOf, Stack } from "./engineModel";
import { FastClock } from "./fastClock";
import { Machine } from "./machine";
import type { CommandOptions, Verbs } from "./plugin";

/** Behind it are the verbs: a plugin, or a provider in this process. */
export interface Door {
  command(config: Readonly<Record<string, string>>, options?: CommandOptions): Promise<Verbs>;
}

export interface WorldOptions {
  /** The plugin's process, which may serve several worlds at once. */
  readonly plugin: () => Promise<Door>;
  /** How many times faster than it does time runs. Default 20. */
  readonly speed?: number;
  /** The names of explicit providers, each with an account of its own. */
  readonly providers?: readonly string[];
  /** Those of them that share the account of the default provider. */
  readonly sameAccount?: readonly string[];
  /** Whether ids are the lowest free number of an account: they count for each, and are used again. */
  readonly reusesIds?: boolean;
  /** Those of them that are at another service, with a base URL of its own. */
  readonly elsewhere?: readonly string[];
  readonly emulator?: EmulatorOptions;
  /** How the service's answers differ from the emulator's. */
  readonly answers?: readonly Change[];
}

/** How long an operation may take, in seconds of the fast clock. */
const timeoutSeconds = 10;

/** A service with accounts, perhaps another service, and a stack that is to hold endpoints there. */
export class World {
  readonly calls: string[] = [];
  readonly stack: Stack;
  /** The API keys that were rotated, by provider. */
  readonly #rotated = new Map<string, number>();

  private constructor(
    readonly emulator: Emulator,
    /** The other service, if there is one. */
    private readonly other: Emulator | undefined,
    private readonly disguise: Disguise | undefined,
    readonly machine: Machine,
    readonly clock: FastClock,
    private readonly options: WorldOptions,
  ) {
    this.stack = new Stack({
      open: async (provider, run) =>
        (await this.options.plugin()).command(this.configOf(provider), {
          clock,
          run,
          environment: machine.environment,
          programFile: machine.programFile,
        }),
      now: clock.date,
      trace: (verb, name) => this.calls.push(`${verb} ${name}`),
      programRuns: (isRunning) => machine.programRuns(isRunning),
    });
  }

  static async start(options: WorldOptions): Promise<World> {
    const clock = new FastClock(options.speed ?? 20);
    const accounts = Object.fromEntries(
      (options.providers ?? []).map((name) => [keyOf(name), accountOf(name, options)]),
    );
    const start = async () => {
      const newId = (account: string) => lowestFree(started.endpoints(account));
      const ids = options.reusesIds ? { newId } : {};
      const started: Emulator = await startEmulator({
        accounts,
        now: clock.date,
        ...ids,
        ...options.emulator,
      });
      return started;
    };
    const [emulator, other] = [await start(), options.elsewhere && (await start())];
    const disguise = options.answers && (await Disguise.start(emulator.url, options.answers));
    const machine = await Machine.start(() => ({
      exported: { version: 3, deployment: world.deployment() },
      history: historyOf(world.stack),
    }));
    const world = new World(emulator, other, disguise, machine, clock, options);
    return world;
  }

  /** The services. */
  get emulators(): readonly Emulator[] {
    return this.other === undefined ? [this.emulator] : [this.emulator, this.other];
  }

  /** The service of a provider. */
  emulatorOf(provider: string): Emulator {
    const isElsewhere = this.options.elsewhere?.includes(provider) ?? false;
    return (isElsewhere ? this.other : undefined) ?? this.emulator;
  }

  /** What is registered, at all services. */
  endpoints(): EmulatedEndpoint[] {
    return this.emulators.flatMap((emulator) => emulator.endpoints());
  }

  /** The configuration of a provider: that of the stack, with a key of its own for an explicit one. */
  configOf(provider: string): Record<string, string> {
    const emulator = this.emulatorOf(provider);
    return {
      "webhooks:baseUrl": (emulator === this.emulator ? this.disguise : undefined)?.url ?? emulator.url,
      "webhooks:apiKey": this.#keyOf(provider),
      "webhooks:timeoutSeconds": String(timeoutSeconds),
      ...(provider === "" ? {} : { [PROVIDER_NAME_KEY]: provider }),
    };
  }

  /** The state as the real engine would export it. */
  deployment(stack = this.stack, time?: string) {
    const names = ["", ...(this.options.providers ?? [])];
    return deploymentOf(stack, Object.fromEntries(names.map((name) => [name, this.configOf(name)])), time);
  }

  /** A provider's API key becomes another one, at the service and in the configuration. */
  rotateKey(provider: string): void {
    const old = this.#keyOf(provider);
    this.#rotated.set(provider, (this.#rotated.get(provider) ?? 0) + 1);
    this.emulatorOf(provider).rotateKey(old, this.#keyOf(provider));
  }

  #keyOf(provider: string): string {
    const times = this.#rotated.get(provider);
    return times === undefined ? keyOf(provider) : `${keyOf(provider)}-${times}`;
  }

  /** What is at a service, but not in the state. */
  strangers(): EmulatedEndpoint[] {
    const known = new Set(this.stack.resources.map((resource) => this.#placeOf(resource)));
    return ["", ...(this.options.providers ?? [])].flatMap((provider, at, all) => {
      const place = (name: string) => this.#placeOf({ provider: name, id: "" });
      if (all.findIndex((name) => place(name) === place(provider)) < at) return [];
      return this.#endpointsOf(provider).filter(({ id }) => !known.has(this.#placeOf({ provider, id })));
    });
  }

  /** Ids may count per account. */
  #placeOf({ provider, id }: { readonly provider: string; readonly id: string }): string {
    return `${this.emulatorOf(provider).url} ${accountOf(provider, this.options)} ${id}`;
  }

  #endpointsOf(provider: string): EmulatedEndpoint[] {
    return this.emulatorOf(provider).endpoints(accountOf(provider, this.options));
  }

  /**
   * Returns the differences from the settled outcome: the state and the service hold exactly the declared endpoints, and the
   * service also those that belonged to others all the time.
   */
  differences(program: readonly Declared[], others: readonly EmulatedEndpoint[]): string[] {
    const wrong: string[] = [];
    const left = [...this.stack.resources];
    for (const declared of program) {
      const at = left.findIndex(({ urn }) => nameOf(urn) === declared.name);
      const [resource] = at < 0 ? [] : left.splice(at, 1);
      if (!resource) {
        wrong.push(`${declared.name}: not in the state`);
        continue;
      }
      if (resource.delete || resource.initErrors || resource.pendingReplacement)
        wrong.push(`${declared.name}: is in the state, but not whole: ${JSON.stringify(resource)}`);
      const { provider = "", args } = declared;
      const endpoint = this.#endpointsOf(provider).find(({ id }) => id === resource.id);
      if (!endpoint) wrong.push(`${declared.name}: ${resource.id} is not at the service`);
      else if (
        !sameUrl(endpoint.url, String(args.url)) ||
        endpoint.type !== args.type ||
        (args.adoptId === undefined && endpoint.ip !== args.ip)
      )
        wrong.push(
          `${declared.name}: declared ${JSON.stringify(args)}, registered ${JSON.stringify(endpoint)}`,
        );
    }
    for (const resource of left) wrong.push(`in the state, but not declared: ${JSON.stringify(resource)}`);
    const ids = this.stack.resources.map((resource) => this.#placeOf(resource));
    if (new Set(ids).size < ids.length) wrong.push(`an id twice in the state: ${ids.join(", ")}`);
    const strangers = this.strangers();
    for (const stranger of strangers)
      if (!others.some((other) => isSame(other, stranger)))
        wrong.push(`an orphan at the service: ${JSON.stringify(stranger)}`);
    for (const other of others)
      if (!strangers.some((stranger) => isSame(other, stranger)))
        wrong.push(`another's is gone or taken over: ${JSON.stringify(other)}`);
    return wrong;
  }

  async close(): Promise<void> {
    await this.disguise?.stop();
    for (const emulator of this.emulators) await emulator.close();
    await this.machine.dispose();
  }
}

/** The first API key of a provider. */
function keyOf(provider: string): string {
  return provider === "" ? DEFAULT_API_KEY : `key-of-${provider}`;
}

function accountOf(provider: string, { sameAccount = [] }: WorldOptions): string {
  return provider === "" || sameAccount.includes(provider) ? "default" : provider;
}

function isSame(a: EmulatedEndpoint, b: EmulatedEndpoint): boolean {
  return a.id === b.id && a.url === b.url;
}

function lowestFree(endpoints: readonly EmulatedEndpoint[]): string {
  const taken = new Set(endpoints.map(({ id }) => id));
  for (let id = 1; ; id++) if (!taken.has(String(id))) return String(id);
}
