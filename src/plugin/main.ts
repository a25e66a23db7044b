import { Server, ServerCredentials } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { PluginEngine } from "./engine";
import { createHandlers } from "./handlers";

/** How large a message may be, in bytes: as large as the engine's own. */
const MAX_MESSAGE_BYTES = 400 * 1024 * 1024;

/**
 * Serves the provider on a port of this machine, and prints the port as the engine expects it. The engine's address is the last
 * argument, after flags such as `-v=9`.
 */
function main(): void {
  const engine = new PluginEngine(process.argv.at(-1) ?? "");
  // An engine that was killed leaves no plugin behind.
  engine.gone.addEventListener("abort", () => process.exit());
  const server = new Server({ "grpc.max_receive_message_length": MAX_MESSAGE_BYTES });
  server.addService(ResourceProviderService, createHandlers({ environment: process.env, engine }));
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) throw error;
    console.log(port);
  });
}

main();
