import { credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderClient, ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { ConfigureRequest, DiffResponse } from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { PluginEngine } from "../../src/plugin/engine";
import { createHandlers } from "../../src/plugin/handlers";
import { createResources, type Resources } from "../../src/plugin/resources";

export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const URN = "urn:pulumi:dev::test::my:component$webhooks:index:WebhookEndpoint::jobs";

/** A value in the envelope of a secret. */
export const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});
export const struct = (properties: object) => Struct.fromJavaScript(properties as never);

/** Fills a request by its setters. Each request of a resource has a URN. */
export function requestOf<T extends object>(request: T, fields: Readonly<Record<string, unknown>>): T {
  const all = Reflect.has(request, "setUrn") ? { Urn: URN, ...fields } : fields;
  for (const [name, value] of Object.entries(all)) {
    const setter: unknown = Reflect.get(request, `set${name}`);
    if (typeof setter !== "function") throw new Error(`the request has no ${name}`);
    setter.call(request, value);
  }
  return request;
}

/** Returns what a response holds, by the names of its getters. */
export function contentOf(response: object): Record<string, unknown> {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(response));
  const getters = names.filter((name) => /^get(?!.*(_as|Map$))/.test(name));
  const content = getters.map((name) => [name.slice(3), plain(Reflect.get(response, name).call(response))]);
  const detailed: [name: string, kind: number][] = [];
  if (response instanceof DiffResponse)
    response.getDetaileddiffMap().forEach((diff, name) => void detailed.push([name, diff.getKind()]));
  return { ...Object.fromEntries(content), detailed };
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Struct) return value.toJavaScript();
  const toObject: unknown = Reflect.get(Object(value), "toObject");
  return typeof toObject === "function" ? toObject.call(value) : value;
}

interface Options {
  readonly environment?: NodeJS.ProcessEnv;
  readonly resources?: Resources;
}

/** The plugin in this process: its gRPC server, a client as the engine has one, and an engine that keeps the log. */
export class NativePlugin {
  readonly warnings: string[] = [];
  readonly #engine = new Server();
  readonly #server = new Server();
  #client: ResourceProviderClient | undefined;

  static async start({ environment = {}, resources }: Options = {}): Promise<NativePlugin> {
    const plugin = new NativePlugin();
    const log = (call: { request: LogRequest }, done: (error: null, response: Empty) => void) => {
      plugin.warnings.push(call.request.getMessage());
      done(null, new Empty());
    };
    plugin.#engine.addService(EngineService, { log } as never);
    const engine = new PluginEngine(`127.0.0.1:${await listen(plugin.#engine)}`);
    const runPulumi = async () => ({ exitCode: 0, stdout: '{"version":3,"deployment":{}}', stderr: "" });
    const ours = () => createResources({ environment, engine, runPulumi });
    const service = createHandlers({ environment, engine, resources: resources ?? ours() });
    plugin.#server.addService(ResourceProviderService, service);
    const address = `127.0.0.1:${await listen(plugin.#server)}`;
    // A port may come again: another plugin's broken connection must not be this one's.
    const options = { "grpc.use_local_subchannel_pool": 1 };
    plugin.#client = new ResourceProviderClient(address, credentials.createInsecure(), options);
    return plugin;
  }

  /** Calls a method as the engine does. @throws the error as gRPC passes it */
  call(method: string, request: object): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      Reflect.get(Object(this.#client), method).call(
        this.#client,
        request,
        (error: Error | null, response: object) => (error ? reject(error) : resolve(contentOf(response))),
      );
    });
  }

  configure(settings: object, name = "default"): Promise<unknown> {
    const urn = "urn:pulumi:dev::test::pulumi:providers:webhooks::default";
    return this.call(
      "configure",
      requestOf(new ConfigureRequest(), { Args: struct(settings), Name: name, Urn: urn }),
    );
  }

  async stop(): Promise<void> {
    this.#client?.close();
    this.#server.forceShutdown();
    this.#engine.forceShutdown();
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}
