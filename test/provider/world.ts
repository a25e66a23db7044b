import { providerNameOf, type Resource, wantedBy } from "../../src/provider/facts/exportedState";
import { keyOf, type UrlAndType } from "../../src/provider/facts/urlAndType";
import { PROVIDER_NAME_KEY } from "../../src/provider/settings";

import type { EndpointInputs } from "../../src/provider/state";
import { createProvider } from "../../src/provider/verbs";
import { nameOf } from "../../src/shared/urn";
import {
  type Command,
  type Declared,
  EngineRun,
  HAND_WRITTEN,
  Killed,
  type Problems,
  providerUrnOf,
  type Recorded,
  ROOT_URN,
  type RunOptions,
  Stack,
  urnOf,
  VerbError,
  type Verbs,
} from "./engineModel";
import { type Dispatcher, FakeService, type Habits, type Registered } from "./fakeService";
import { PulumiModel, type Shows } from "./pulumiModel";
import { VirtualTime } from "./virtualTime";

/** How long a registration may still be made, in milliseconds: twice as long as an operation may take. */
export const GRACE_MS = 20_000;

export const urlOf = (path: string) => `https://hooks.example.com/${path}`;
/** How the url of what somebody edits begins. */
export const EDITED = "https://edited.example.com/";
/** Declares an endpoint. */
export const declared = (name: string, path = name, args: Partial<EndpointInputs> = {}): Declared => ({
  name,
  args: { url: urlOf(path), type: "production", ...args },
});
/** Returns the account of a provider. */
const accountOf = (provider = "") => provider || "default";
const isOf = ({ id, account }: Registered, resource: Resource) =>
  resource.id === id && !resource.pendingReplacement && accountOf(providerNameOf(resource)) === account;

/** A service, and a stack that is to hold endpoints there. */
export class World {
  readonly time = new VirtualTime();
  readonly service: FakeService;
  readonly stack = new Stack();
  /** What the engine was told to show. */
  readonly shown: { readonly severity: "warn" | "info"; readonly message: string }[] = [];
  readonly pulumi: PulumiModel;
  environment: NodeJS.ProcessEnv = {};
  /** By provider: the default one, whose name is empty, and an explicit one with an account of its own. */
  readonly #keys = new Map<string, string>();
  /** The plugin processes of the command under way. */
  #processes: { isDead: boolean; readonly die: (error: Error) => void }[] = [];
  #cancelling = new AbortController();
  readonly #spelled = new Map<string, string>();

  constructor(habits: Habits = {}, shows: Shows = "so far") {
    this.pulumi = new PulumiModel(this.stack, shows);
    this.service = new FakeService("https://api.example.com", this.time, habits);
    for (const provider of ["", "second"]) this.rotateKey(provider);
  }

  get warnings(): string[] {
    return this.shown.flatMap(({ severity, message }) => (severity === "warn" ? [message] : []));
  }

  /** Gives a provider a new key, and its account no other. */
  rotateKey(provider: string): void {
    const { accounts } = this.service;
    const old = this.#keys.get(provider) ?? "";
    const key = old === "" ? `k3y-of-${provider}` : `${old}-again`;
    accounts.delete(old);
    this.#keys.set(provider, key);
    accounts.set(key, accountOf(provider));
  }

  /** Starts a plugin process of the dynamic provider, without its process and its socket. */
  #open(provider: string, config: Readonly<Record<string, string>> = {}): Verbs {
    let die: (error: Error) => void = () => {};
    const death = new Promise<never>((_, reject) => {
      die = reject;
    });
    death.catch(() => {});
    const process = { isDead: false, die };
    this.#processes.push(process);
    const dispatch: Dispatcher["dispatch"] = (sent, handler) => {
      if (!process.isDead) this.service.dispatch(process, sent, handler);
      return true;
    };
    const plugin = createProvider({
      clock: this.time,
      environment: this.environment,
      engine: {
        warn: (message) => this.shown.push({ severity: "warn", message }),
        info: (message) => this.shown.push({ severity: "info", message }),
        rootUrn: async () => (this.stack.isProgramRunning || this.stack.isNative ? ROOT_URN : undefined),
        cancelled: this.#cancelling.signal,
      },
      dispatcher: { dispatch } as Dispatcher,
      runPulumi: this.pulumi.run,
    });
    const settings: Readonly<Record<string, string | undefined>> = {
      "webhooks:baseUrl": this.service.url,
      "webhooks:apiKey": this.#keys.get(provider),
      "webhooks:timeoutSeconds": "10",
      [PROVIDER_NAME_KEY]: provider,
      ...config,
    };
    void plugin.configure({ config: { get: (name: string) => settings[name] } as never });
    return behindGrpc(plugin, { death, isNative: this.stack.isNative });
  }

  /** The verbs that somebody wrote by hand: they hold a resource to its id alone, and wait for nothing. */
  #handWritten(): Verbs {
    return {
      check: async (_, news) => ({ inputs: news, failures: [] }),
      diff: async () => ({ changes: false, replaces: [] }),
      create: () => Promise.reject(new Error("it is there already")),
      read: async (id, props) => ({ id, props }),
      update: async (_, outs) => ({ outs }),
      delete: async (id) => this.service.remove(id),
    };
  }

  /**
   * Registers what is written by hand and not recorded, or otherwise: in an update of its own. What a resource of another type registers in
   * the same run is nobody's yet.
   */
  #writeByHand(program: readonly Declared[]): void {
    for (const { name, args, isSecret = false } of program.filter(({ type }) => type === HAND_WRITTEN)) {
      const urn = urnOf(name, HAND_WRITTEN);
      const old = this.stack.resources.find((each) => each.urn === urn);
      const { url, type } = args;
      if (old?.outputs.url === url && old.outputs.type === type) continue;
      if (old) this.service.remove(old.id);
      const first = this.service.add({ url, type });
      const { id } = this.isTakenForOurs(first) ? this.service.add({ url, type }) : first;
      if (id !== first.id) this.service.remove(first);
      const its = { urn, type: HAND_WRITTEN, provider: providerUrnOf(""), isSecret };
      const inputs = { url, type, __provider: "exports.handler = …" };
      const rest = this.stack.resources.filter((each) => each !== old);
      this.stack.resources = [...rest, { ...its, id, inputs, outputs: { url, type } }];
    }
  }

  /** The verbs of a new process of the default provider, with these settings besides its own, each with the time that it takes. */
  plugin(config: Readonly<Record<string, string>> = {}): Verbs {
    const timed = ([name, verb]: [string, (...args: unknown[]) => Promise<unknown>]) => [
      name,
      (...args: unknown[]) => this.time.until(verb(...args)),
    ];
    return Object.fromEntries(Object.entries(this.#open("", config)).map(timed));
  }

  up = (program: readonly Declared[], options?: RunOptions) => this.run("up", program, options);
  refresh = () => this.run("refresh");
  destroy = () => this.run("destroy");

  /** Runs a command of the engine, in a process of its own for each provider. */
  run(command: Command, program: readonly Declared[] = [], options: RunOptions = {}): Promise<Problems> {
    this.#processes = [];
    this.#cancelling = new AbortController();
    if (command === "up") this.#writeByHand(program);
    const open = (name: string) => (name === HAND_WRITTEN ? this.#handWritten() : this.#open(name));
    const cancelled = this.#cancelling.signal;
    const isPreview = command === "preview";
    const run = new EngineRun(this.stack, open, { ...options, cancelled, isPreview });
    this.pulumi.update(isPreview ? undefined : this.stack.deployment);
    // After a kill, `pulumi cancel` comes before anything else.
    return this.time.until(run.run(command, program)).finally(() => this.pulumi.update(undefined));
  }

  /** Kills the whole run under way. */
  kill(): void {
    for (const process of this.#processes) {
      process.isDead = true;
      process.die(new Killed());
    }
  }

  /** Ctrl-C, once. */
  cancel(): void {
    this.#cancelling.abort();
  }

  /** Returns one string for what is equal at the service: in an account, as it stores it. */
  keyIn(provider: string | undefined, { url, type }: UrlAndType): string {
    const declared = `${type} ${url}`;
    const known = this.#spelled.get(declared) ?? keyOf({ url: this.service.spelled(url), type });
    this.#spelled.set(declared, known);
    return `${accountOf(provider)}: ${known}`;
  }

  /** Returns the same of a resource, or of an operation; undefined if the state encrypts its url. */
  keyOf(resource: Resource): string | undefined {
    const wanted = wantedBy(resource);
    return wanted && this.keyIn(providerNameOf(resource), wanted);
  }

  /** Returns whether a resource of the stack has an endpoint, of some type if that matters: ids may count per account. */
  has(endpoint: Registered, type?: string): boolean {
    const key = this.keyIn(endpoint.account, endpoint);
    // Where ids are used again, another url is another's endpoint, unless somebody edited it.
    const isIts = (each: Recorded) =>
      !this.service.habits.reusesIds || endpoint.url.startsWith(EDITED) || this.keyOf(each) === key;
    return this.stack.resources.some(
      (each) => isOf(endpoint, each) && (type ?? each.type) === each.type && isIts(each),
    );
  }

  /**
   * Returns whether what was just registered has the id, the url and the type of what a resource of the stack had: nobody could tell it from
   * that.
   */
  isTakenForOurs(endpoint: Registered): boolean {
    const key = this.keyIn(endpoint.account, endpoint);
    return this.stack.resources.some((each) => each.id === endpoint.id && this.keyOf(each) === key);
  }

  /** What is at the service, and not in the state. */
  unowned(): Registered[] {
    return this.service.endpoints.filter((each) => !this.has(each));
  }

  /**
   * Returns the differences from the settled outcome: the state and the service hold exactly the declared endpoints, and the service
   * also those that belonged to others all the time.
   */
  differences(program: readonly Declared[], others: readonly Registered[] = []): string[] {
    const left = [...this.service.endpoints];
    const lineOf = (what: string, provider: string | undefined, args: UrlAndType & { ip?: unknown }) =>
      `${what} of ${this.keyIn(provider, args)} ${args.ip ?? ""}`;
    const recorded = (resource: Recorded) => {
      const at = left.findIndex((each) => isOf(each, resource));
      const [endpoint] = at < 0 ? [] : left.splice(at, 1);
      if (resource.delete || resource.initErrors || resource.pendingReplacement || !endpoint)
        return `${endpoint ? "not whole" : "not at the service"}: ${JSON.stringify(resource)}`;
      // What somebody else registered has an ip that nobody can see.
      const { ip } = endpoint.by === undefined ? resource.inputs : endpoint;
      return lineOf(nameOf(resource.urn), providerNameOf(resource), { ...endpoint, ip });
    };
    const endpoint = (each: Registered) => lineOf(`${each.id}, in no state,`, each.account, each);
    const declared = program.map(({ name, provider, args }) => lineOf(name, provider, args));
    const wanted = new Set([...declared, ...others.map(endpoint)]);
    // Those with a resource first: the others are left.
    const found = new Set([...this.stack.resources.map(recorded), ...left.map(endpoint)]);
    const missing = [...wanted].filter((each) => !found.has(each)).map((each) => `missing: ${each}`);
    return [...missing, ...[...found].filter((each) => !wanted.has(each)).map((each) => `unwanted: ${each}`)];
  }
}

/**
 * The verbs behind gRPC, in a process that may die. The dynamic provider's plugin refuses what is undefined (engine rule 25), and the native
 * one leaves it out.
 */
function behindGrpc(
  plugin: ReturnType<typeof createProvider>,
  { death, isNative }: { readonly death: Promise<never>; readonly isNative: boolean },
): Verbs {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== "object" || value === null) return value;
    const defined = Object.entries(value).filter(([, each]) => each !== undefined);
    if (!isNative && defined.length < Object.keys(value).length) throw new Error("it is undefined");
    return Object.fromEntries(defined.map(([key, each]) => [key, copy(each)]));
  };
  const sent = <T>(value: T) => copy(value) as T;
  const call =
    (verb: (...args: never[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      try {
        const result = Object(await Promise.race([death, verb(...(args.map(sent) as never[]))]));
        // The plugin adds the provider's code to what a verb returns.
        const { __provider } = Object(args.at(-1));
        for (const part of isNative ? [] : ["inputs", "outs", "props"])
          if (result[part]) result[part] = { ...result[part], __provider };
        return sent(result);
      } catch (error) {
        if (error instanceof Killed || error instanceof VerbError) throw error;
        const { message, id, properties, reasons } = Object(error);
        if (!id) throw new VerbError(message);
        // Of what is half-made, the engine shows the reasons.
        throw new VerbError(reasons.join("; "), sent({ id, properties, reasons }));
      }
    };
  const { configure: _, ...verbs } = plugin;
  return Object.fromEntries(
    Object.entries(verbs).map(([name, verb]) => [name, call(verb)]),
  ) as unknown as Verbs;
}
