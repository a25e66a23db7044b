/**
 * Loads a project's program again for each run of the CLI, as an inline program of the Automation API: a process of its own
 * would cost a second. It starts in the project's folder, and sends the port on which the CLI finds it.
 */
const { createRequire } = require("node:module");
const { join, sep } = require("node:path");

const folder = process.cwd();
const program = join(folder, "index.js");
// The program and its host must share one SDK.
const load = createRequire(program);
const grpc = load("@grpc/grpc-js");
const { LanguageServer } = load("@pulumi/pulumi/automation/server");
const { LanguageRuntimeService } = load("@pulumi/pulumi/proto/language_grpc_pb");

async function run() {
  for (const path of Object.keys(require.cache))
    if (path.startsWith(folder + sep)) delete require.cache[path];
  const exported = load(program);
  return typeof exported === "function" ? exported() : exported;
}

const server = new grpc.Server();
server.addService(LanguageRuntimeService, new LanguageServer(run));
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.send(port);
});
// A promise that a program leaves behind may fail after its run.
process.on("unhandledRejection", () => {});
process.on("disconnect", () => process.exit());
