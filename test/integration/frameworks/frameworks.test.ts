import { once } from "node:events";
import type {
  ALBHandler,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  LambdaFunctionURLHandler,
} from "aws-lambda";
import { lambdaHandler } from "../../../src/receiver/adapters/lambda";
import { cases, inHaste, post, RECORDER } from "../../receiver/adapters/cases";
import { head, raw } from "../../receiver/adapters/wire";
import { type App, removeFolders, startApp } from "../../receiver/readme/app";
import { codeOf } from "../../receiver/readme/page";
import { delivered, jobSucceeded, receiverOf, secret } from "../../receiver/support";
import { startRedis } from "../stores/redis";
import { type Program, programs, projectOf, sveltekit, withOwnRoutes } from "./programs";

const WEBHOOK_RECEIVER = JSON.stringify({ version: 1, secrets: [secret] });
const apps: App[] = [];
afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()));
  removeFolders();
});

async function start([code, ...packages]: Program, receiver = RECORDER, env = {}): Promise<App> {
  const project = projectOf([inHaste(code), ...packages], receiver);
  const app = await startApp(project, { WEBHOOK_RECEIVER, NODE_OPTIONS: "--expose-gc", ...env });
  apps.push(app);
  return app;
}

/** What reaches a function only as a whole. */
const OF_STREAMS = ["too slow", "broken off"];
const json = { "content-type": "application/json" };
const ofJob = { body: { type: "job.running", data: { jobId: "job_1" } } };

describe.each(Object.entries(programs))("with %s,", (name, program) => {
  const hasStreams = name !== "AWS Lambda";
  let app: App;
  beforeAll(async () => {
    app = await start(program);
  });

  // One after the other: the second delivery is the first once more.
  test.each(Object.entries(cases).filter(([what]) => hasStreams || !OF_STREAMS.includes(what)))(
    "a delivery that is %s gets the response that it gets everywhere",
    async (_what, { send, status, did }) => {
      expect(await send(app)).toBe(status);
      expect(await app.next(did.length)).toEqual(did);
    },
  );

  if (withOwnRoutes.includes(name))
    test("the routes of the program's own at and below the path still respond", async () => {
      const requests = [
        ["GET", ""],
        ["GET", "/7"],
        ["POST", "/7/cancel"],
      ] as const;
      for (const [method, path] of requests)
        expect(await (await fetch(`${app.url}${path}`, { method })).text()).toBe("mine");
    });

  test("a hundred deliveries at once, among others, are handled once each", async () => {
    const good = Array.from({ length: 100 }, (_, job) => delivered({ body: jobSucceeded(`job_${job}`) }));
    const statuses = await Promise.all(
      good.flatMap((delivery) => [
        post(app, delivery),
        post(app, { ...delivered(), body: Buffer.from("{}") }),
        post(app, delivery),
      ]),
    );
    expect(statuses.filter((_, index) => index % 3 === 1)).toEqual(Array(100).fill(401));
    const did = await app.next(400);
    expect(did.filter((line) => line === "signature-mismatch")).toHaveLength(100);
    expect(did.filter((line) => / of /.test(line)).sort()).toEqual(
      good.map(({ body }, job) => `job_${job} of ${body.length}`).sort(),
    );
  });

  if (!hasStreams) return;

  test("a sender that leaves before the response does not stop the handler", async () => {
    const { headers, body } = delivered(ofJob);
    const { socket } = raw(app.port, head({ ...headers, ...json, "content-length": `${body.length}` }), body);
    await app.next(1);
    socket.destroy();
    expect(await app.next(1)).toEqual(["handled"]);
  });

  test("of an endless body, less than 48 MiB are taken before its connection ends, and memory grows by less than 50 MB", async () => {
    const memory = async () => {
      expect(await post(app, delivered(ofJob))).toBe(200);
      const [bytes] = await app.next(2);
      return Number(bytes);
    };
    const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    // The rows above have brought the heap to its usual size.
    const before = await memory();
    let most = 0;
    const { socket, response } = raw(app.port, head({ ...json, "transfer-encoding": "chunked" }), piece);
    expect(await app.next(1)).toEqual(["size"]);
    let sent = 0;
    for (; sent < 3200 && !socket.destroyed; sent++) {
      // Rejects if the connection is closed.
      if (!socket.write(piece)) await Promise.race([once(socket, "drain").catch(() => {}), response]);
      if (sent % 100 === 99) most = Math.max(most, await memory());
    }
    expect(socket.destroyed).toBe(true);
    // 16 MiB, and what the buffers of both sides hold.
    expect(sent * piece.length).toBeLessThan(48 * 2 ** 20);
    // Who still writes when a server on Node ends the connection may find that out before the response.
    expect(await response).toMatch(/^(HTTP\/1.1 413 |$)/);
    expect(Math.max(most, await memory()) - before).toBeLessThan(50 * 2 ** 20);
  });
});

test("with SvelteKit, a body above BODY_SIZE_LIMIT is refused, and onRejected gets the error that says so", async () => {
  const receiver = RECORDER.replace("({ reason }) => write(reason)", "({ error }) => write(error.message)");
  const app = await start(sveltekit(500), receiver);
  const large = delivered({ body: Buffer.alloc(501) });
  expect(await post(app, large)).toBe(408);
  expect(await post(app, large, { inPieces: true })).toBe(408);
  expect(await app.next(2)).toEqual([
    "Content-length of 501 exceeds limit of 500 bytes.",
    "request body size exceeded BODY_SIZE_LIMIT of 500",
  ]);
});

test("with tRPC, the program of the page reads a genuine delivery, and refuses a tampered one", async () => {
  const server = `
    import { serve } from "@hono/node-server";
    import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
    const createContext = ({ req }) => ({ req });
    const fetch = (req) => fetchRequestHandler({ endpoint: "", req, router, createContext });
    serve({ fetch, port: 8080 });`;
  const code = codeOf("tRPC: deliveries are sent to /trpc/jobs") + server;
  const app = await start([code, "@trpc/server", "@hono/node-server"], "", { WEBHOOK_SECRET: secret });
  expect(await post(app, delivered())).toBe(200);
  expect(await post(app, { ...delivered(), body: Buffer.from("{}") })).toBe(401);
  expect(app.lines).toEqual(["job_1 is done"]);
});

test("the program of the page for Next.js loads without secrets, as in next build", async () => {
  const app = await start([codeOf("Next.js: app/jobs/route.ts")], "", { WEBHOOK_RECEIVER: "" });
  expect(app.lines).toEqual([]);
});

test("two processes of the program with Redis handle a delivery that reaches both once", async () => {
  const redis = await startRedis();
  try {
    const program: Program = [codeOf("node:http"), "ioredis"];
    const receiver = codeOf("receiver.ts with Redis, for several processes");
    const env = { REDIS_URL: redis.url };
    const [one, other] = [await start(program, receiver, env), await start(program, receiver, env)];
    const delivery = delivered();
    expect([await post(one, delivery), await post(other, delivery)]).toEqual([200, 200]);
    await one.written(/^job_1 is done$/);
    expect(other.lines).not.toContain("job_1 is done");
  } finally {
    await redis.dispose();
  }
});

test("lambdaHandler returns a handler by AWS's own types, for every platform in front of a function", () => {
  // What the compiler checks here.
  type AwsHandler = APIGatewayProxyHandler & APIGatewayProxyHandlerV2 & LambdaFunctionURLHandler & ALBHandler;
  const handler: AwsHandler = lambdaHandler(receiverOf().receiver);
  expect(handler).toBeInstanceOf(Function);
});
