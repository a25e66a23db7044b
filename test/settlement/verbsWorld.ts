import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/client/clock";
import { DEFAULT_API_KEY, type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import type { PendingError } from "../../src/endpoint/errors";
import { createProvider } from "../../src/endpoint/provider";
import type { EndpointInputs, EndpointState } from "../../src/endpoint/types";
import type { Deployment, Operation, Resource } from "../../src/settlement/deployment";
import type { Entry } from "../../src/settlement/entry";
import { TYPE_TOKEN } from "../../src/shared/permanent";
import { FastClock } from "../endpoint/fastClock";

const ALWAYS = Number.POSITIVE_INFINITY;
/** The URN of the stack. */
export const rootUrn = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
export const inputs: EndpointInputs = { url: "https://hooks.example.com/t0ken/jobs", type: "production" };
export const otherInputs: EndpointInputs = { ...inputs, url: "https://hooks.example.com/t0ken/other" };

/** How many times faster than it does time runs. */
const SPEED = 10;
/** Longer than any window, in milliseconds. */
const LONG_MS = 60_000;

/** A clock that runs fast, and that a test can put forward. */
class JumpingClock implements Clock {
  readonly #fast = new FastClock(SPEED);
  #skippedMs = 0;

  now = (): number => this.#fast.now() + this.#skippedMs;
  date = (): number => this.#fast.date() + this.#skippedMs;
  after = this.#fast.after;

  skip(milliseconds: number): void {
    this.#skippedMs += milliseconds;
  }

  /** @param offsetMs from now */
  text(offsetMs = 0): string {
    return new Date(this.date() + offsetMs).toISOString();
  }
}

export interface PluginOptions {
  /** The engine's run. Default: one of its own. */
  readonly run?: string;
  /** Default: the world's service. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** The name of the WebhooksProvider. Default: the default provider. */
  readonly provider?: string;
  readonly rootUrn?: string | undefined;
  /** When the run began. Default: now. */
  readonly startedAt?: number | undefined;
  readonly environment?: NodeJS.ProcessEnv;
  /** Default: the world's. */
  readonly clock?: Clock;
}

interface PastRun {
  readonly kind: string;
  readonly result: "succeeded" | "failed";
  readonly startTime: string;
  readonly endTime: string;
  readonly environment?: Readonly<Record<string, string>>;
}

interface OfProvider {
  /** Default: the default one. */
  readonly provider?: string;
}

/** A service, a stack's state that a stand-in for the Pulumi command prints, and a folder for the book. */
export class VerbsWorld {
  readonly folder = mkdtempSync(join(tmpdir(), "webhooks-settlement-"));
  readonly home = join(this.folder, "home");
  readonly warnings: string[] = [];
  readonly infos: string[] = [];
  resources: Resource[] = [];
  operations: Operation[] = [];
  /** The last run first. */
  history: PastRun[] = [];
  /** What the stand-in for `pulumi stack export` does, as a shell command. */
  printState = "cat state.json";
  /** What the stand-in for `pulumi stack history` does, as a shell command. Its seventh argument is the page. */
  printHistory = "cat history-$7.json 2>/dev/null || echo '[]'";
  /** What the stand-in for `pulumi stack ls` does, as a shell command. */
  printStacks = "exit 1";
  /** When the stack's first run began. */
  created: string;
  /** When a run last wrote the state. */
  written: string;
  #runs = 0;

  private constructor(
    readonly service: Emulator,
    readonly clock: JumpingClock,
  ) {
    this.created = clock.text(-3_600_000);
    this.written = clock.text(-1_800_000);
    mkdirSync(this.home);
  }

  static async start(options: EmulatorOptions = {}): Promise<VerbsWorld> {
    const clock = new JumpingClock();
    return new VerbsWorld(await startEmulator({ now: clock.date, ...options }), clock);
  }

  /** Another machine, whose PULUMI_HOME has this name. */
  machine(name: string): PluginOptions {
    const PULUMI_HOME = join(this.folder, name);
    mkdirSync(PULUMI_HOME, { recursive: true });
    return { environment: { PULUMI_HOME } };
  }

  /** The verbs of a plugin process. All processes here have one pid: what tells runs apart is their name. */
  plugin({ run, baseUrl, apiKey, provider = "", environment = {}, clock, ...rest }: PluginOptions = {}) {
    this.#runs += 1;
    this.save();
    const urn = "rootUrn" in rest ? rest.rootUrn : rootUrn;
    const startedAt = "startedAt" in rest ? rest.startedAt : (clock ?? this.clock).date();
    const verbs = createProvider({
      engine: {
        run: run ?? `127.0.0.1:${this.#runs}`,
        rootUrn: async () => urn,
        startedAt: () => startedAt,
        info: (message) => this.infos.push(message),
        warn: (message) => this.warnings.push(message),
      },
      environment: {
        PATH: `${this.folder}:${process.env.PATH}`,
        PULUMI_HOME: this.home,
        PULUMI_BACKEND_URL: "file:///backend",
        ...environment,
      },
      clock: clock ?? this.clock,
    });
    const config: Record<string, string> = {
      "webhooks:baseUrl": baseUrl ?? this.service.url,
      "webhooks:apiKey": apiKey ?? DEFAULT_API_KEY,
      "webhooks:timeoutSeconds": "10",
      "webhooks:providerName": provider,
    };
    void verbs.configure({ config: { get: (key: string) => config[key] } as never });
    return verbs;
  }

  /** Registers in a run of its own, which then is killed. */
  register(options?: PluginOptions, args: EndpointInputs = inputs) {
    return this.plugin(options).create(args);
  }

  /**
   * Registers in a run that is killed before the answer arrives, and lets so much time pass.
   *
   * @returns the id of the endpoint
   */
  async lose(options?: PluginOptions, { args = inputs, thenMs = LONG_MS } = {}): Promise<string> {
    const known = new Set(this.book().map(({ name }) => name));
    const { id } = await this.register(options, args);
    this.edit((entry) => (known.has(entry.name) ? entry : { ...entry, id: null, createdAt: null }));
    this.clock.skip(thenMs);
    return id;
  }

  /** Registers in a run that is killed before the request arrives, and lets so much time pass. */
  async loseInVain(options?: PluginOptions, { thenMs = LONG_MS } = {}): Promise<void> {
    const id = await this.lose(options, { thenMs });
    this.service.remove(id);
  }

  /** Registers in a run that does not learn whether the service has made an endpoint. Returns what it fails with. */
  async leavePending(
    kind: "reset-after" | "hang-after" | "hang-before",
    options?: PluginOptions,
    args = inputs,
  ): Promise<PendingError> {
    this.service.fault({ operation: "register", kind });
    this.service.fault({ operation: "list", kind: "status", status: 500, after: 1, times: ALWAYS });
    const error = await failure(this.register(options, args));
    this.service.clearFaults();
    return error as PendingError;
  }

  /** As `leavePending`, in a run that fails and leaves the resource in the state. */
  async pend({ happens }: { happens: boolean }): Promise<{ id: string; state: EndpointState }> {
    const { id, properties } = await this.leavePending(happens ? "hang-after" : "hang-before");
    if (properties.pending === undefined) throw new Error("Nothing is pending.");
    this.record("jobs", id, { outputs: { ...properties } });
    this.ended("failed");
    return { id, state: properties as unknown as EndpointState };
  }

  /** Somebody else registers the url and type. Returns the id. */
  stranger(account = "default", { url, type } = inputs): string {
    return this.service.add({ url, type }, account).id;
  }

  /** Has the service say from now on that there are more endpoints than those that it has. */
  listPart(): void {
    const body = JSON.stringify({ data: this.service.endpoints(), has_more: true });
    this.service.fault({ operation: "list", kind: "status", status: 200, body, times: ALWAYS });
  }

  /** Records an endpoint in the state. */
  record(
    name: string,
    id: string,
    { provider = "default", ...more }: OfProvider & Partial<Resource> = {},
  ): void {
    this.resources.push({ ...resourceOf(name, provider), ...more, id });
    this.save();
  }

  /** Records that a run began to register an endpoint and never ended. */
  interrupt(name: string, args: EndpointInputs, { provider = "default" }: OfProvider = {}): void {
    const resource = { ...resourceOf(name, provider), inputs: { ...args } };
    this.operations.push({ type: "creating", resource });
    this.written = this.clock.text();
    this.save();
  }

  /** Records a run in the history, which then is written again. Its times count from now, in milliseconds. */
  ended(
    result: PastRun["result"],
    { kind = "update", from = -10_000, until = 0, flags = [] as readonly string[] } = {},
  ): void {
    const environment = Object.fromEntries(flags.map((flag) => [`pulumi.flag.${flag}`, "x"]));
    this.history.unshift({
      kind,
      result,
      startTime: this.clock.text(from),
      endTime: this.clock.text(until),
      environment,
    });
    this.written = this.clock.text(until);
    this.save();
  }

  ids(account?: string): string[] {
    return this.service.endpoints(account).map(({ id }) => id);
  }

  /** The entries of the book. */
  book(home = this.home): Entry[] {
    return this.bookFiles(home).map(entryAt);
  }

  bookFiles(home = this.home): string[] {
    const folder = join(home, "webhook-endpoints", "book");
    try {
      return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
    } catch {
      return [];
    }
  }

  /** Changes every entry of the book. */
  edit(change: (entry: Entry) => object): void {
    for (const path of this.bookFiles()) writeFileSync(path, JSON.stringify(change(entryAt(path))));
  }

  /** Writes what the stand-in prints. */
  save(): void {
    const root: Resource = { urn: rootUrn, type: "pulumi:pulumi:Stack", created: this.created };
    const deployment: Deployment = {
      manifest: { time: this.written },
      resources: [root, ...this.resources],
      pending_operations: this.operations,
    };
    writeFileSync(join(this.folder, "state.json"), JSON.stringify({ version: 3, deployment }));
    for (let page = 1; page === 1 || this.history.length > (page - 1) * 50; page++)
      writeFileSync(
        join(this.folder, `history-${page}.json`),
        JSON.stringify(this.history.slice((page - 1) * 50, page * 50)),
      );
    const command = join(this.folder, "pulumi");
    const text = `#!/bin/sh\ncd "${this.folder}"\ncase "$2" in\n  export) ${this.printState};;\n  history) ${this.printHistory};;\n  ls) ${this.printStacks};;\n  *) exit 1;;\nesac\n`;
    writeFileSync(command, text);
    chmodSync(command, 0o755);
  }

  async close(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true });
    await this.service.close();
  }
}

function resourceOf(name: string, provider: string): Resource {
  return {
    urn: `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`,
    type: TYPE_TOKEN,
    provider: `urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::${provider}::0a1b`,
  };
}

/** The state that a plugin wrote. */
export function stateOf(made: { outs?: unknown }): EndpointState {
  return made.outs as EndpointState;
}

/** Returns the error that a verb fails with. */
export function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: Error) => error,
  );
}

/** Returns the code of the error that a verb fails with, in its message: that is all that the engine passes on. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const { message } = await failure(promise);
  return /\(?\b([A-Z]+(?:_[A-Z]+)+)\b/.exec(message)?.[1] ?? message;
}

/** Returns the id of what was made, or why it was not. */
export function outcome(made: Promise<{ id: string }>): Promise<string> {
  return made.then(
    ({ id }) => id,
    (error: Error) => error.message,
  );
}

/** Reads a file of the book: its last line counts. */
export function entryAt(path: string): Entry {
  return JSON.parse(readFileSync(path, "utf8").split("\n").at(-1) ?? "");
}
