import { once } from "node:events";
import { promisify } from "node:util";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { connectEngine } from "../../src/provider/engine";

const { argv } = process;
afterEach(() => {
  process.argv = argv;
});

test("an engine that is gone, as after a kill of its process alone, ends the run; one that was never there does not", async () => {
  const server = new Server();
  const bind = promisify(server.bindAsync.bind(server));
  const port = await bind("127.0.0.1:0", ServerCredentials.createInsecure());
  const plugin = require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js");
  process.argv = ["node", plugin, `127.0.0.1:${port}`];
  const engine = connectEngine();
  const { cancelled } = engine;
  // It fails, because this server has no such method: but it is there.
  expect(await engine.rootUrn()).toBeUndefined();
  expect(cancelled?.aborted).toBe(false);

  const ending = cancelled && once(cancelled, "abort");
  server.forceShutdown();
  await ending;

  const other = connectEngine();
  expect(await other.rootUrn()).toBeUndefined();
  expect(other.cancelled?.aborted).toBe(false);
});
