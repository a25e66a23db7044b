import { Readable } from "node:stream";
import { head, raw } from "../receiver/adapters/wire";
import { removeFolders } from "../receiver/readme/app";
import { delivered, jobSucceeded, secret } from "../receiver/support";
import { codeOf, routeOf } from "./page";
import { type Running, startBun, startDeno, startNode, startWorkerOf } from "./programs";

const bun = `const server = ${routeOf("Bun")};\nconsole.log("port " + server.port);`;
const deno = `const server = ${routeOf("Deno")};\nconsole.log("port " + server.addr.port);`;
/** Of a date from which on a Worker of the page runs. */
const startWorker = startWorkerOf("2024-09-23");
const startWorkerWithStack = startWorkerOf("2026-03-17");

const open: Running[] = [];
afterAll(async () => {
  await Promise.all(open.map((running) => running.stop()));
  removeFolders();
});

/** Returns the status of the response. In pieces, the body has no length that a head could tell. */
async function post(
  { port }: Running,
  { headers, body }: Pick<ReturnType<typeof delivered>, "headers" | "body">,
  { inPieces = false } = {},
): Promise<number> {
  const sent = inPieces ? Readable.from([body.subarray(0, 1), body.subarray(1)]) : body;
  const response = await fetch(`http://127.0.0.1:${port}/hooks`, {
    method: "POST",
    headers,
    body: sent,
    duplex: "half",
  });
  await response.text();
  return response.status;
}

/** Sends one byte of ten. Returns the status of the response, or 0 if the connection ends before one. */
async function upload(
  { port }: Running,
  headers: Record<string, string>,
  { ends = false } = {},
): Promise<number> {
  const { socket, answer } = raw(port, head({ ...headers, "content-length": "10" }), "x");
  if (ends) socket.destroySoon();
  else socket.once("data", () => socket.end());
  const [, status = "0"] = /^HTTP\/1.1 (\d+)/.exec(await answer) ?? [];
  return Number(status);
}

const imports = `
import { fetchHandler } from "pulumi-webhook-endpoints/receiver/fetch";
import { receiver } from "./receiver.js";
`;

test.each([
  ["Bun", startBun, imports + bun],
  ["Deno", startDeno, imports + deno],
  ["Cloudflare Workers", startWorker, codeOf("Cloudflare Workers")],
  [
    "Cloudflare Workers and …/stack",
    startWorkerWithStack,
    `${imports}export default { fetch: fetchHandler(receiver) };`,
  ],
])(
  "with %s, the program of the page handles a genuine delivery, and refuses a forged one with a warning",
  async (_runtime, start, code) => {
    const running = await start({ "app.ts": code, "receiver.ts": codeOf("receiver.ts") });
    open.push(running);
    expect(await post(running, { ...delivered(), body: Buffer.from("{}") })).toBe(401);
    await running.written("refused (signature-mismatch)");
    expect(await post(running, delivered())).toBe(200);
    await running.written("job_1 is done");
  },
);

/** Writes down what a receiver does. Its adapters have little time for a request that says so. */
const table = `
import { createReceiver } from "pulumi-webhook-endpoints/receiver";
import * as adapters from "pulumi-webhook-endpoints/receiver/fetch";
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";

const write = (line) => console.log("> " + line);
const receiver = createReceiver({
  secrets: ${JSON.stringify(secret)},
  maxBodyBytes: 1000,
  handlers: { "job.succeeded": ({ jobId, rawBody }) => write(jobId + " of " + rawBody.length) },
  onOutcome: ({ outcome }) => write(outcome),
  onRejected: ({ reason }) => write(reason),
});
const within = (adapt) => {
  const [handle, hasty] = [adapt(receiver), adapt(receiver, { bodyTimeoutMs: 100 })];
  return (request, response) => (new Headers(request.headers).has("x-hasty") ? hasty : handle)(request, response);
};
export const onNode = within(nodeHandler);
export const onFetch = within(adapters.fetchHandler);
`;

const body = Buffer.from(JSON.stringify(jobSucceeded("job_1")));
const marked = Buffer.from(`\uFEFF${body}`);
const genuine = delivered({ body });
const long = Buffer.alloc(1001);

interface Case {
  readonly send: (app: Running) => Promise<number>;
  /** 0 if the connection ends before a response. */
  readonly status: number;
  /** What the receiver does. */
  readonly did: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  genuine: {
    send: (app) => post(app, genuine),
    status: 200,
    did: [`job_1 of ${body.length}`, "handled"],
  },
  "sent again": {
    send: (app) => post(app, genuine),
    status: 200,
    did: ["duplicate"],
  },
  forged: {
    send: (app) => post(app, { ...delivered(), body: marked }),
    status: 401,
    did: ["signature-mismatch"],
  },
  old: {
    send: (app) => post(app, delivered({ at: Date.now() - 3_600_000 })),
    status: 401,
    did: ["timestamp-too-old"],
  },
  "too large": {
    send: (app) => post(app, delivered({ body: long })),
    status: 413,
    did: ["size"],
  },
  "too large, and doesn't say so": {
    send: (app) => post(app, delivered({ body: long }), { inPieces: true }),
    status: 413,
    did: ["size"],
  },
  "too slow": {
    send: (app) => upload(app, { "x-hasty": "1" }),
    status: 408,
    did: ["incomplete-body"],
  },
  "broken off": {
    send: (app) => upload(app, {}, { ends: true }),
    status: 0,
    did: ["incomplete-body"],
  },
  "begun with a byte order mark": {
    send: (app) => post(app, delivered({ body: marked })),
    status: 200,
    did: [`job_1 of ${marked.length}`, "handled"],
  },
};

const importing = `import { onFetch, onNode } from "./table.js";\n`;
const onFetch = (code: string) => importing + code.replace("fetchHandler(receiver)", "onFetch");

describe.each([
  [
    `Node ${process.versions.node}`,
    startNode,
    `import http from "node:http";\n${importing}const server = http.createServer(onNode);
    server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));`,
  ],
  ["Bun", startBun, onFetch(bun)],
  ["Deno", startDeno, onFetch(deno)],
  ["Cloudflare Workers", startWorker, `${importing}export default { fetch: onFetch };`],
])("with %s,", (_runtime, start, code) => {
  let running: Running;
  beforeAll(async () => {
    running = await start({ "app.ts": code, "table.ts": table });
    open.push(running);
  });

  // One after the other: the second delivery is the first once more.
  test.each(Object.entries(cases))(
    "a delivery that is %s gets the response that it gets everywhere",
    async (_what, { send, status, did }) => {
      expect(await send(running)).toBe(status);
      expect(await running.next(did.length)).toEqual(did);
    },
  );
});
