import { once } from "node:events";
import { cases, inHaste, post, RECORDER } from "../receiver/adapters/cases";
import { head, raw } from "../receiver/adapters/wire";
import { removeFolders } from "../receiver/readme/app";
import { codeOf, routeOf } from "../receiver/readme/page";
import { delivered } from "../receiver/support";
import { type Running, startBun, startDeno, startNode, startWorkerOf } from "./programs";

const bun = `const server = ${routeOf("Bun")};\nconsole.log("port " + server.port);`;
const deno = `const server = ${routeOf("Deno")};\nconsole.log("port " + server.addr.port);`;
/** Of a date from which on a Worker of the page runs. */
const startWorker = startWorkerOf("2025-04-01");
const startWorkerWithStack = startWorkerOf("2026-03-17");

const open: Running[] = [];
afterAll(async () => {
  await Promise.all(open.map((running) => running.stop("SIGKILL")));
  removeFolders();
});

const imports = `
import { fetchHandler } from "pulumi-webhook-endpoints/receiver/fetch";
import { receiver } from "./receiver.js";
const onFetch = fetchHandler(receiver);
`;

test.each([
  ["Bun", startBun, imports + bun],
  ["Deno", startDeno, imports + deno],
  ["Cloudflare Workers", startWorker, codeOf("Cloudflare Workers")],
  ["Cloudflare Workers and …/stack", startWorkerWithStack, `${imports}export default { fetch: onFetch };`],
])(
  "with %s, the program of the page handles a genuine delivery, and refuses a forged one with a warning",
  async (_runtime, start, code) => {
    const running = await start({ "app.ts": code, "receiver.ts": codeOf("receiver.ts") });
    open.push(running);
    expect(await post(running, { ...delivered(), body: Buffer.from("{}") })).toBe(401);
    await running.written(/refused \(signature-mismatch\)/);
    expect(await post(running, delivered())).toBe(200);
    await running.written(/^job_1 is done$/);
  },
);

describe.each([
  [
    `Node ${process.versions.node}`,
    startNode,
    `import http from "node:http";
    import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
    import { receiver } from "./receiver.js";
    const server = http.createServer(nodeHandler(receiver));
    server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));`,
  ],
  ["Bun", startBun, imports + bun],
  ["Deno", startDeno, imports + deno],
  ["Cloudflare Workers", startWorker, `${imports}export default { fetch: onFetch };`],
])("with %s,", (runtime, start, code) => {
  let running: Running;
  beforeAll(async () => {
    running = await start({ "app.ts": inHaste(code), "receiver.ts": RECORDER });
    open.push(running);
  });

  test.each(Object.entries(cases))(
    "a delivery that is %s gets the response that it gets everywhere",
    async (_what, { send, status, did }) => {
      expect(await send(running)).toBe(status);
      expect(await running.next(did.length)).toEqual(did);
    },
  );

  // Deno stops to read, too, and ends the connection half a minute later.
  if (runtime === "Deno") return;
  test("an endless body is refused, and its connection ends", async () => {
    const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const { socket, response } = raw(running.port, head({ "transfer-encoding": "chunked" }), piece);
    // Ten times as much as is dropped.
    for (let sent = 0; sent < 2560 && !socket.destroyed; sent++)
      if (!socket.write(piece)) await Promise.race([once(socket, "drain").catch(() => {}), response]);
    expect(socket.destroyed).toBe(true);
    expect(await response).toMatch(/^(HTTP\/1.1 413 |$)/);
  });
});
