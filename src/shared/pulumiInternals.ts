import { createRequire } from "node:module";
import { Server } from "node:net";
import { parseJson } from "./json";

// What this package uses of Node.js and Pulumi that their documentation does not promise. Each function says what happens where it is
// gone: nothing is lost but what it adds. Its test shows that the tested versions have it, and what is without.

/** The path of the request that the engine sends when the user cancels the run. */
const CANCEL_PATH = "/pulumirpc.ResourceProvider/Cancel";

/**
 * Returns a signal that fires when the user cancels the run that this plugin process works for (engine rule 43).
 *
 * The dynamic provider's plugin handles the engine's request itself, and passes nothing on. So this observes the requests that
 * arrive at the plugin's gRPC server, and changes nothing about them. Node.js has no documented way to that server. If it is not
 * found, the signal never fires, and each wait ends at its own limit.
 */
export function cancellation(): AbortSignal {
  const cancelling = new AbortController();
  for (const server of openServers()) {
    // Only an HTTP/2 server emits this.
    server.on("stream", (_stream: unknown, headers: Readonly<Record<string, unknown>>) => {
      if (headers[":path"] === CANCEL_PATH) cancelling.abort();
    });
  }
  return cancelling.signal;
}

/** Returns the servers of this process that listen. */
function openServers(): Server[] {
  const handles: unknown = Reflect.get(process, "_getActiveHandles")?.call(process);
  return Array.isArray(handles) ? handles.filter((handle) => handle instanceof Server) : [];
}

/**
 * Returns the gRPC client of the SDK beside the dynamic provider's plugin: that is loaded already wherever a package manager put it. A dynamic
 * provider has no documented way to the engine (engine rule 12). Without it, the engine's log lacks what the provider says, and the
 * provider does not know the stack.
 *
 * @param plugin the plugin's main file
 * @throws Error if one of them is not there
 */
export function sdkBeside(plugin: string) {
  const load = createRequire(plugin);
  return {
    grpc: load("@grpc/grpc-js"),
    services: load("../../proto/engine_grpc_pb.js"),
    messages: load("../../proto/engine_pb.js"),
  };
}

/**
 * Keeps the dynamic provider's plugin from printing an error twice. It writes `${error}: ${error.stack}` to standard error, which Pulumi shows
 * below the stack, and gives Pulumi the message, which it shows below the resource (engine rule 15). Otherwise an error shows twice.
 */
export function printedOnce<Failure extends Error>(error: Failure): Failure {
  const get = () => {
    const { stderr } = process;
    if (Reflect.set(stderr, "write", () => true))
      queueMicrotask(() => Reflect.deleteProperty(stderr, "write"));
    return "";
  };
  return Object.defineProperty(error, "stack", { get, configurable: true });
}

/**
 * Returns an output whose failure ends the program without a PromiseRejectionHandledWarning. An output has promises that the SDK
 * handles only when the program passes it on. If it fails before, as with a value that is known at once, Node warns of that. Otherwise
 * the output fails as any other.
 */
export function failOnce<Output extends object>(output: Output): Output {
  const [isKnown, isSecret] = ["isKnown", "isSecret"].map((name) =>
    Promise.resolve<unknown>(Reflect.get(output, name)),
  );
  isKnown?.catch(() => {});
  // Nobody ever handles this one, so the SDK reports the error also of an output that is never passed on.
  void isSecret?.then(() => {});
  return output;
}

/**
 * Prepares an error that `apply` throws: the SDK prints its message alone. With a stack of the SDK's own files, Node.js 20 and 22 would
 * hang for 15 seconds before the program ends (engine rule 55).
 */
export function withoutStack<Failure extends Error>(error: Failure): Failure {
  return Object.assign(error, { stack: "" });
}

/** Returns whether a program runs in a unit test: `pulumi.runtime.setMocks` puts a monitor of its own in place. Without it, a query asks the service. */
export function isMocked(monitor: unknown): boolean {
  return Reflect.has(Object(monitor), "mocks");
}

/**
 * Returns whether the stack's configuration encrypts a key; undefined if the SDK does not tell: its types leave the function out. Then nobody is
 * warned of a key in plain text.
 *
 * @param runtime `pulumi.runtime`
 */
export function isEncrypted(runtime: object, key: string): boolean | undefined {
  const isConfigSecret: unknown = Reflect.get(runtime, "isConfigSecret");
  return typeof isConfigSecret === "function" ? isConfigSecret(key) === true : undefined;
}

/**
 * Returns the stack's configuration of this package, by names such as `baseUrl`, as the engine gives it to a native plugin. Without it, an
 * explicit provider has only its own settings and those of the environment.
 */
export function stackConfiguration({
  PULUMI_CONFIG = "",
}: NodeJS.ProcessEnv): Readonly<Record<string, unknown>> {
  return Object(parseJson(PULUMI_CONFIG));
}
