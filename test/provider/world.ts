import { setImmediate } from "node:timers/promises";
import type { Engine } from "../../src/provider/engine";
import { PROVIDER_NAME_KEY } from "../../src/provider/settings";
import { StackState } from "../../src/provider/stackState";
import { sameUrl } from "../../src/shared/url";
import { nameOf } from "../../src/shared/urn";
import {
  type Command,
  type Declared,
  deploymentOf,
  type Problems,
  ROOT_URN,
  type RunOptions,
  Stack,
  type Verbs,
} from "./engineModel";
import { type Dispatcher, FakeService, type Habits, type Registered } from "./fakeService";
import { Process } from "./process";
import { VirtualTime } from "./virtualTime";

export interface WorldOptions {
  readonly habits?: Habits;
  /** Explicit providers, besides the default one: each has an account of its own. */
  readonly providers?: readonly string[];
}

export interface PluginOptions {
  readonly provider?: string;
  /** Laid over the provider's own. */
  readonly config?: Readonly<Record<string, string>>;
  readonly engine?: Partial<Engine>;
}

/** How long an operation may take, in seconds, unless a test says otherwise. */
const TIMEOUT_SECONDS = 10;
/** Twice that: how long a registration may still be made, in milliseconds. */
export const PATIENCE_MS = 20_000;

export const urlOf = (path: string) => `https://hooks.example.com/${path}`;
/** Declares an endpoint. */
export const declared = (name: string, path = name, args: object = {}, more: object = {}): Declared => ({
  name,
  args: { url: urlOf(path), type: "production", ...args },
  ...more,
});
/** Returns the account of a provider. */
const accountOf = (provider = "") => provider || "default";

/** A service, and a stack that is to hold endpoints there. */
export class World {
  readonly time = new VirtualTime();
  readonly service: FakeService;
  readonly stack: Stack;
  /** What the engine was told to show. */
  readonly shown: { readonly severity: "warn" | "info"; readonly message: string }[] = [];
  /** Whether `pulumi stack export` works. */
  isStateReadable = true;
  /** While a program runs, the engine knows the stack. */
  isProgramRunning = false;
  readonly #keys = new Map<string, string>();
  /** The processes of the command under way. */
  #processes: Process[] = [];
  #cancelling = new AbortController();

  constructor({ habits, providers = [] }: WorldOptions = {}) {
    this.service = new FakeService("https://api.example.com/v1", this.time, habits);
    for (const provider of ["", ...providers]) this.rotateKey(provider);
    this.stack = new Stack({
      open: (provider) => this.process({ provider }),
      programRuns: (isRunning) => {
        this.isProgramRunning = isRunning;
      },
    });
  }

  get warnings(): string[] {
    return this.shown.flatMap(({ severity, message }) => (severity === "warn" ? [message] : []));
  }

  /** The configuration of a provider. */
  configOf(provider = ""): Record<string, string> {
    return {
      "webhooks:baseUrl": this.service.url,
      "webhooks:apiKey": this.#keys.get(provider) ?? "",
      "webhooks:timeoutSeconds": String(TIMEOUT_SECONDS),
      ...(provider === "" ? {} : { [PROVIDER_NAME_KEY]: provider }),
    };
  }

  /** Gives a provider a new key, and its account no other. */
  rotateKey(provider: string): void {
    const { accounts } = this.service;
    const old = this.#keys.get(provider);
    const key = old === undefined ? `k3y-of-${provider}` : `${old}-again`;
    accounts.delete(old ?? "");
    this.#keys.set(provider, key);
    accounts.set(key, accountOf(provider));
  }

  /** Starts a plugin process. */
  process({ provider = "", config = {}, engine = {} }: PluginOptions = {}): Process {
    const dispatch: Dispatcher["dispatch"] = (sent, handler) => {
      this.service.dispatch(process, { ...sent, path: sent.path.replace(/^\/v1/, "") }, handler);
      return true;
    };
    const process: Process = new Process(
      { ...this.configOf(provider), ...config },
      {
        clock: this.time,
        environment: {},
        engine: {
          warn: (message) => this.shown.push({ severity: "warn", message }),
          info: (message) => this.shown.push({ severity: "info", message }),
          rootUrn: async () => (this.isProgramRunning ? ROOT_URN : undefined),
          cancelled: this.#cancelling.signal,
          ...engine,
        },
        dispatcher: { dispatch } as Dispatcher,
        readState: async () => {
          if (!this.isStateReadable) throw new Error("no pulumi on PATH");
          return new StackState(deploymentOf(this.stack));
        },
      },
    );
    this.#processes.push(process);
    return process;
  }

  /** The verbs of a new plugin process, each with the time that it takes. */
  plugin(options: PluginOptions = {}): Verbs {
    const process = this.process(options);
    const verbs = ["check", "diff", "create", "read", "update", "delete"] as const;
    const timed = (name: (typeof verbs)[number]) => {
      const verb = process[name].bind(process) as (...args: unknown[]) => Promise<unknown>;
      return [name, (...args: unknown[]) => this.time.until(verb(...args))];
    };
    return Object.fromEntries(verbs.map(timed));
  }

  up = (program: readonly Declared[], options?: RunOptions) => this.run("up", program, options);
  preview = (program: readonly Declared[]) => this.run("preview", program);
  refresh = () => this.run("refresh");
  destroy = () => this.run("destroy");

  /** Runs a command of the engine, in a process of its own for each provider. */
  run(command: Command, program: readonly Declared[] = [], options: RunOptions = {}): Promise<Problems> {
    this.#processes = [];
    this.#cancelling = new AbortController();
    return this.time.until(this.stack.run(command, program, options));
  }

  /** Kills the whole run under way, or its plugins alone. */
  kill(options: { readonly alone?: boolean } = {}): void {
    for (const process of this.#processes) process.kill(options);
  }

  /** Ctrl-C, once. */
  cancel(): void {
    this.#cancelling.abort();
  }

  /** Waits for something in a run under way, while its time passes. */
  async reached(isReached: () => boolean): Promise<void> {
    while (!isReached()) await setImmediate();
  }

  /** Returns whether the stack has an endpoint: ids may count per account. */
  has({ id, account }: Registered): boolean {
    return this.stack.resources.some((each) => each.id === id && accountOf(each.provider) === account);
  }

  /** What is at the service, and not in the state. */
  strangers(): Registered[] {
    return this.service.endpoints.filter((each) => !this.has(each));
  }

  endpointsOf(provider: string): Registered[] {
    return this.service.endpoints.filter(({ account }) => account === accountOf(provider));
  }

  /**
   * Returns the differences from the settled outcome: the state and the service hold exactly the declared endpoints, and the service
   * also those that belonged to others all the time.
   */
  differences(program: readonly Declared[], others: readonly Registered[] = []): string[] {
    const wrong: string[] = [];
    const left = [...this.stack.resources];
    for (const { name, args, provider = "" } of program) {
      const at = left.findIndex(({ urn }) => nameOf(urn) === name);
      const [resource] = at < 0 ? [] : left.splice(at, 1);
      const endpoint = this.endpointsOf(provider).find(({ id }) => id === resource?.id);
      if (resource === undefined) wrong.push(`${name}: not in the state`);
      else if (resource.delete || resource.initErrors || resource.pendingReplacement)
        wrong.push(`${name}: is in the state, but not whole: ${JSON.stringify(resource)}`);
      else if (endpoint === undefined) wrong.push(`${name}: ${resource.id} is not at the service`);
      else if (
        !sameUrl(endpoint.url, String(args.url)) ||
        endpoint.type !== args.type ||
        (endpoint.by !== undefined && endpoint.ip !== args.ip)
      )
        wrong.push(`${name}: declared ${JSON.stringify(args)}, registered ${JSON.stringify(endpoint)}`);
    }
    for (const resource of left) wrong.push(`in the state, but not declared: ${JSON.stringify(resource)}`);
    const ids = this.stack.resources.map(({ provider, id }) => `${provider} ${id}`);
    if (new Set(ids).size < ids.length) wrong.push(`an id twice in the state: ${ids.join(", ")}`);
    const strangers = this.strangers();
    for (const stranger of strangers)
      if (!others.includes(stranger)) wrong.push(`an orphan at the service: ${stranger.id} ${stranger.url}`);
    for (const other of others)
      if (!strangers.includes(other)) wrong.push(`another's is gone or taken over: ${other.id} ${other.url}`);
    return wrong;
  }
}
