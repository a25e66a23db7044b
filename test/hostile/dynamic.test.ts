import { promisify } from "node:util";
import { Server, ServerCredentials, type sendUnaryData } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { GetRootResourceResponse, type LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { connectEngine } from "../../src/provider/engine";
import { createProvider } from "../../src/provider/verbs";
import { hostileService, JOBS, rowsOf } from "./service";
import { EACH_VALUE, harmIn } from "./values";

const { argv } = process;
/** The engine, which only notes what it is to show. */
let server: Server;
let shown: string[];
beforeEach(async () => {
  shown = [];
  server = new Server();
  server.addService(EngineService, {
    log({ request }: { readonly request: LogRequest }, reply: sendUnaryData<Empty>) {
      shown.push(request.getMessage());
      reply(null, new Empty());
    },
    getRootResource: (_: unknown, reply: sendUnaryData<GetRootResourceResponse>) =>
      reply(null, new GetRootResourceResponse()),
  });
  const bind = promisify(server.bindAsync.bind(server));
  const port = await bind("127.0.0.1:0", ServerCredentials.createInsecure());
  const plugin = require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js");
  process.argv = ["node", plugin, `127.0.0.1:${port}`];
});
afterEach(() => {
  process.argv = argv;
  server.forceShutdown();
});

test.each(EACH_VALUE)(
  "a service whose values are %s is harmless in what the dynamic provider throws, and lets the engine show",
  async (_what, value) => {
    const baseUrl = await hostileService(rowsOf(value), { error: value, more: `\n${value}` });
    const environment = {
      WEBHOOKS_BASE_URL: baseUrl,
      WEBHOOKS_API_KEY: "key-2b8f6d0c9e4a7153",
      WEBHOOKS_SHOW_RESPONSES: "true",
    };
    const provider = createProvider({ environment, engine: connectEngine() });
    const thrown: string[] = [];
    const note = (error: unknown) => void thrown.push(String((error as Error).message));
    for (const url of [JOBS.url, "https://hooks.example.com/none"]) {
      const { failures = [] } = await provider.check({}, { ...JOBS, url });
      thrown.push(...failures.map(({ reason }) => reason));
      await provider.create({ ...JOBS, url }).catch(note);
    }
    // So old that nothing lags behind it.
    const createdAt = "2020-01-01T00:00:00Z";
    const recorded = { ...JOBS, ip: null, createdAt, updatedAt: createdAt, account: "abc" };
    await provider.read("wh_other", { ...recorded, baseUrl: value }).catch(note);
    expect(harmIn([...thrown, ...shown].join("\n"))).toEqual([]);
    // It has met each of these.
    for (const code of ["ENDPOINT_EXISTS", "OTHER_BASE_URL", "REJECTED"])
      expect(thrown.join("\n")).toContain(`(${code})`);
    while (!shown.some((line) => line.includes("the service answered 422"))) await new Promise(setImmediate);
    expect(harmIn(shown.join("\n"))).toEqual([]);
  },
);
