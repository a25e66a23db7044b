import { createRequire } from "node:module";

/** Says something to the person at the terminal. */
export interface EngineLog {
  warn(message: string): void;
  info(message: string): void;
}

/**
 * The engine's own log, so that a message of the plugin shows under Diagnostics in `preview` and `up` (engine rule 12).
 *
 * A dynamic provider is given no way to it, so this takes the client that the plugin's SDK brings along, from beside the
 * plugin's own main file: that is the copy which is loaded already, wherever a package manager put it. The engine's
 * address is the plugin's first argument. None of this is documented: a message that cannot be sent is dropped.
 */
export function engineLog(argv: readonly string[] = process.argv): EngineLog {
  let send: ((severity: number, message: string) => void) | undefined;
  const log = (severity: number, message: string) => {
    try {
      send ??= connect(argv[1] ?? "", argv[2] ?? "");
      send(severity, message);
    } catch {
      // Failing to log is never an error.
    }
  };
  return { warn: (message) => log(2, message), info: (message) => log(1, message) };
}

function connect(plugin: string, address: string): (severity: number, message: string) => void {
  const load = createRequire(plugin);
  const grpc: typeof import("@grpc/grpc-js") = load("@grpc/grpc-js");
  const services: typeof import("@pulumi/pulumi/proto/engine_grpc_pb") = load(
    "../../proto/engine_grpc_pb.js",
  );
  const messages: typeof import("@pulumi/pulumi/proto/engine_pb") = load("../../proto/engine_pb.js");
  const client = new services.EngineClient(address, grpc.credentials.createInsecure());
  return (severity, message) => {
    const request = new messages.LogRequest();
    request.setSeverity(severity as 0 | 1 | 2 | 3);
    request.setMessage(message);
    client.log(request, () => {});
  };
}
