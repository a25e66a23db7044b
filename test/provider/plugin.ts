import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beatsFile, type FastClock, follow } from "./fastClock";
import { ROOT_URN } from "./rootUrn";

const root = join(__dirname, "../..");
// Pulumi's own copy of gRPC, as the plugin uses it.
const pulumi = createRequire(join(root, "node_modules/@pulumi/pulumi/package.json"));
const grpc: typeof import("@grpc/grpc-js") = pulumi("@grpc/grpc-js");
const engineServices: typeof import("@pulumi/pulumi/proto/engine_grpc_pb") =
  pulumi("./proto/engine_grpc_pb.js");
const engineMessages: typeof import("@pulumi/pulumi/proto/engine_pb") = pulumi("./proto/engine_pb.js");
const providerServices = pulumi("./proto/provider_grpc_pb.js");
const messages = pulumi("./proto/provider_pb.js");
const status = pulumi("./proto/status_pb.js");
const struct = pulumi("google-protobuf/google/protobuf/struct_pb.js");
const empty = pulumi("google-protobuf/google/protobuf/empty_pb.js");

export type Properties = Readonly<Record<string, unknown>>;

export interface Log {
  readonly severity: "info" | "warning" | "other";
  readonly message: string;
}

export interface Checked {
  readonly inputs: Properties;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

export interface Diffed {
  readonly changes: boolean;
  readonly replaces: readonly string[];
}

export interface Made {
  readonly id: string;
  readonly properties: Properties;
  readonly inputs?: Properties;
}

/** What a verb failed with; for a resource that is half-made, what the engine keeps of it. */
export class VerbError extends Error {
  override readonly name = "VerbError";
  constructor(
    message: string,
    readonly halfMade?: Made & { readonly reasons: readonly string[] },
  ) {
    super(message);
  }
}

/** The error of a verb whose whole run was killed. */
export class Killed extends Error {
  override readonly name = "Killed";
}

export interface CommandOptions {
  /** With one, many commands may be under way at once, each with a provider of its own. */
  readonly clock?: FastClock;
  /** What names the engine's run: the same for all providers of one command. Default: one for each of them. */
  readonly run?: string;
  /** Laid over the plugin's own environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** While this file exists, the engine knows the root of the stack: a program is running. Default: it never does. */
  readonly programFile?: string;
}

type Call = (request: unknown, done: (error: RpcError | null, response: unknown) => void) => void;
export type RpcError = Error & { details: string; metadata: { get(name: string): (Buffer | string)[] } };

/** The real plugin, a process, and an engine that keeps the messages it gets. */
export class Plugin {
  /** What the plugin printed, as the CLI would show it. */
  printed = "";
  #commands = 0;
  #killed = false;
  #configuring: Promise<unknown> = Promise.resolve();

  private constructor(
    /** The messages that the engine got. */
    readonly logs: Log[],
    private readonly child: ChildProcess,
    private readonly engine: import("@grpc/grpc-js").Server,
    private readonly client: Record<string, Call> & { close(): void },
  ) {}

  static async start({ env = {} }: { env?: NodeJS.ProcessEnv } = {}): Promise<Plugin> {
    const engine = new grpc.Server();
    const logs: Log[] = [];
    engine.addService(
      engineServices.EngineService as never,
      {
        log(call: { request: { getSeverity(): number; getMessage(): string } }, done: Call) {
          const severity = call.request.getSeverity();
          logs.push({
            severity: severity === 2 ? "warning" : severity === 1 ? "info" : "other",
            message: call.request.getMessage(),
          });
          done(null, new empty.Empty() as never);
        },
        getRootResource(_call: unknown, done: Call) {
          const response = new engineMessages.GetRootResourceResponse();
          response.setUrn(ROOT_URN);
          done(null, response as never);
        },
      } as never,
    );
    const port = await new Promise<number>((resolve, reject) => {
      engine.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    const script = join(root, "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js");
    const child = spawn(process.execPath, ["--require", beatsFile, script, `127.0.0.1:${port}`], {
      cwd: root,
      env: { PATH: process.env.PATH, PULUMI_NODEJS_PROJECT: "test", FOLLOWS_BEATS: "", ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    }) as ChildProcessWithoutNullStreams;
    const address = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", (line) => resolve(`127.0.0.1:${line.trim()}`));
      child.once("exit", () => reject(new Error("the plugin ended before it was ready")));
    });
    // A plugin that was killed may have had the same port: its broken connection must not be this one's.
    const client = new providerServices.ResourceProviderClient(address, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    await follow(child);
    const plugin = new Plugin(logs, child, engine, client);
    child.stderr.on("data", (text) => {
      plugin.printed += text;
    });
    return plugin;
  }

  /**
   * What the engine starts a process of its own for: another `preview`, `up`, `refresh` or `destroy`. Here the same
   * process serves it, which the plugin configures again for another text of the provider's code.
   */
  async command(config: Readonly<Record<string, string>>, options: CommandOptions = {}): Promise<Command> {
    this.#commands += 1;
    const command = new Command(this, `${codeOf(options)} // ${this.#commands}`);
    const configured = this.#configuring.then(async () => {
      const request = new messages.ConfigureRequest();
      request.setArgs(struct.Struct.fromJavaScript(config));
      await this.call("configure", request);
      // The plugin configures a provider when it first meets its code: here, before another command's settings come.
      await command.update("", {}, {});
    });
    this.#configuring = configured.catch(() => {});
    await configured;
    return command;
  }

  call(verb: string, request: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#killed) reject(new Killed());
      else
        this.client[verb]?.call(this.client, request, (error, response) => {
          if (error === null) resolve(response);
          else reject(this.#killed ? new Killed() : verbError(error));
        });
    });
  }

  /** Kills the plugin, with the whole run, or alone: then the engine goes on, and each call fails. */
  kill({ alone = false }: { alone?: boolean } = {}): void {
    this.#killed = !alone;
    this.child.kill("SIGKILL");
  }

  async stop(): Promise<void> {
    this.client.close();
    this.engine.forceShutdown();
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGTERM");
    await ended;
  }
}

export type Verbs = Pick<Command, "check" | "diff" | "create" | "read" | "update" | "delete">;

/** The six verbs, as the engine calls them in one command. */
export class Command {
  /** @param code the provider's code, which every resource of the dynamic provider has */
  constructor(
    private readonly plugin: Pick<Plugin, "call">,
    private readonly code?: string,
  ) {}

  async check(olds: Properties, news: Properties): Promise<Checked> {
    const request = new messages.CheckRequest();
    request.setOlds(this.#struct(olds));
    request.setNews(this.#struct(news));
    const response = (await this.plugin.call("check", request)) as never as {
      getInputs(): { toJavaScript(): Properties };
      getFailuresList(): { getProperty(): string; getReason(): string }[];
    };
    return {
      inputs: plain(response.getInputs()),
      failures: response
        .getFailuresList()
        .map((failure) => ({ property: failure.getProperty(), reason: failure.getReason() })),
    };
  }

  async diff(id: string, olds: Properties, news: Properties): Promise<Diffed> {
    const request = new messages.DiffRequest();
    request.setId(id);
    request.setOlds(this.#struct(olds));
    request.setNews(this.#struct(news));
    const response = (await this.plugin.call("diff", request)) as never as {
      getChanges(): number;
      getReplacesList(): string[];
    };
    return { changes: response.getChanges() === 2, replaces: response.getReplacesList() };
  }

  async create(inputs: Properties): Promise<Made> {
    const request = new messages.CreateRequest();
    request.setProperties(this.#struct(inputs));
    return made((await this.plugin.call("create", request)) as never);
  }

  /** The properties are those of the state. Undefined: it is gone. */
  async read(id: string, properties: Properties): Promise<Made | undefined> {
    const request = new messages.ReadRequest();
    request.setId(id);
    request.setProperties(this.#struct(properties));
    const response = (await this.plugin.call("read", request)) as never as Response & {
      getInputs(): { toJavaScript(): Properties } | undefined;
    };
    if (response.getId() === "") return undefined;
    const inputs = response.getInputs();
    return { ...made(response), ...(inputs ? { inputs: plain(inputs) } : {}) };
  }

  async update(id: string, olds: Properties, news: Properties): Promise<Properties> {
    const request = new messages.UpdateRequest();
    request.setId(id);
    request.setOlds(this.#struct(olds));
    request.setNews(this.#struct(news));
    const response = (await this.plugin.call("update", request)) as never as Response;
    return plain(response.getProperties());
  }

  async delete(id: string, properties: Properties): Promise<void> {
    const request = new messages.DeleteRequest();
    request.setId(id);
    request.setProperties(this.#struct(properties));
    await this.plugin.call("delete", request);
  }

  #struct(properties: Properties): unknown {
    const code = this.code === undefined ? {} : { __provider: this.code };
    return struct.Struct.fromJavaScript({ ...properties, ...code });
  }
}

/** The code of a provider with parts of its own. */
function codeOf({ clock, run, environment = {}, programFile }: CommandOptions): string {
  const rootUrn =
    programFile === undefined
      ? "async () => undefined"
      : `async () => require("node:fs").existsSync(${JSON.stringify(programFile)}) ? engine.rootUrn() : undefined`;
  return `exports.handler = () => {
    const { createProvider } = require("pulumi-webhook-endpoints/provider");
    const engine = require(${JSON.stringify(join(root, "dist/provider/engine.js"))}).connectEngine();
    const clock = ${clock?.code};
    const startedAt = clock?.date();
    return createProvider({
      clock,
      environment: { ...process.env, ...${JSON.stringify(environment)} },
      engine: { ...engine, run: ${JSON.stringify(run)} ?? engine.run, startedAt: () => startedAt, rootUrn: ${rootUrn} },
    });
  };`;
}

interface Response {
  getId(): string;
  getProperties(): { toJavaScript(): Properties };
}

function made(response: Response): Made {
  return { id: response.getId(), properties: plain(response.getProperties()) };
}

/** Without the provider's code, which each command has its own text of. */
function plain(value: { toJavaScript(): Properties }): Properties {
  const { __provider: _, ...rest } = value.toJavaScript();
  return rest;
}

export function verbError(error: RpcError): VerbError {
  const [encoded] = error.metadata?.get("grpc-status-details-bin") ?? [];
  if (encoded === undefined) return new VerbError(error.details);
  const [detail] = status.Status.deserializeBinary(encoded).getDetailsList();
  const halfMade = messages.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
  return new VerbError(error.details, { ...made(halfMade), reasons: halfMade.getReasonsList() });
}
