import { createRequire } from "node:module";

/** Writes to the terminal, through the engine. */
export interface EngineLog {
  warn(message: string): void;
  info(message: string): void;
}

/**
 * Returns the engine's own log, whose messages show under Diagnostics in `preview` and `up` (engine rule 12).
 *
 * A dynamic provider has no documented way to it. This takes the gRPC client of the SDK beside the plugin's own main file,
 * which is loaded already wherever a package manager put it, and the engine's address, which is the plugin's first
 * argument. A message that cannot be sent is dropped.
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
