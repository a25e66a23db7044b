import { once } from "node:events";
import { head, raw } from "../../receiver/adapters/wire";
import { type App, removeFolders, startApp } from "../../receiver/readme/app";
import { delivered, secret } from "../../receiver/support";

afterAll(removeFolders);

const begin = `
import http from "node:http";
import { createReceiver } from "pulumi-webhook-endpoints/receiver";
import { fetchHandler } from "pulumi-webhook-endpoints/receiver/fetch";
const handlers = { "job.succeeded": () => console.log("handled") };
const receiver = createReceiver({ secrets: "${secret}", handlers, onRejected: ({ reason }) => console.log(reason) });
const deliver = fetchHandler(receiver, { bodyTimeoutMs: 200 });
const handle = (request) =>
  request.method === "POST" ? deliver(request) : new Response(String(process.memoryUsage().rss));
`;
const REACT_ROUTER = `
import express from "express";
import { createRequestHandler } from "@react-router/express";
const action = ({ request }) => handle(request);
const build = {
  entry: { module: {} }, assets: { routes: {}, entry: {} }, basename: "/", future: {}, ssr: true, prerender: [],
  routeDiscovery: { mode: "initial" }, allowedActionOrigins: [],
  routes: { hooks: { id: "hooks", path: "hooks", module: { action, loader: action } } },
};
http.createServer(express().use(createRequestHandler({ build }))).listen();`;

/** Servers that make a Request of what Node's server gets, each in its own way: a program, and its packages. */
const servers: Readonly<Record<string, readonly [code: string, ...packages: string[]]>> = {
  "h3 1, as in Nuxt": [
    `import { createApp, defineEventHandler, toNodeListener, toWebRequest } from "h3";
    const app = createApp().use(defineEventHandler((event) => handle(toWebRequest(event))));
    http.createServer(toNodeListener(app)).listen();`,
    "h3",
  ],
  "h3 2 and its srvx": [
    `import { H3, toNodeHandler } from "h3-2/node";
    http.createServer(toNodeHandler(new H3().all("/hooks", (event) => handle(event.req)))).listen();`,
    "h3-2",
  ],
  "@hono/node-server": [
    `import { getRequestListener } from "@hono/node-server";
    http.createServer(getRequestListener(handle)).listen();`,
    "@hono/node-server",
  ],
  "@mjackson/node-fetch-server": [
    `import { createRequestListener } from "@mjackson/node-fetch-server";
    http.createServer(createRequestListener(handle)).listen();`,
    "@mjackson/node-fetch-server",
  ],
  "@remix-run/node-fetch-server": [
    `import { createRequestListener } from "@remix-run/node-fetch-server";
    http.createServer(createRequestListener(handle)).listen();`,
    "@remix-run/node-fetch-server",
  ],
  "React Router": [REACT_ROUTER, "@react-router/express", "express"],
  "@whatwg-node/server": [
    `import { createServerAdapter } from "@whatwg-node/server";
    http.createServer(createServerAdapter(handle)).listen();`,
    "@whatwg-node/server",
  ],
};

/** Sends a part of a body and, once it is answered, the rest. Returns the status, or nothing if the connection ended without one. */
async function statusOf(
  { ports: [port = 0] }: App,
  headers: Record<string, string>,
  part: string,
  rest = "",
) {
  const { socket, answer } = raw(port, head(headers), part);
  const [first] = await Promise.race([once(socket, "data"), answer.then((text) => [text])]);
  await new Promise((written) => socket.write(rest, written));
  socket.destroy();
  return String(first).slice(9, 12);
}

test.each(Object.entries(servers))(
  "behind %s, no sender can end the process, hang it or fill its memory, and each gets its answer",
  async (_name, [code, ...names]) => {
    const packages = Object.fromEntries(names.map((name) => [name, `test/integration/node_modules/${name}`]));
    const app = await startApp({ files: { "app.ts": begin + code }, packages }, {});
    const url = app.url.replace("jobs", "hooks");
    const memory = async () => Number(await (await fetch(url)).text());
    const large = "x".repeat(2 ** 21);
    const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const chunked = { "transfer-encoding": "chunked" };

    expect(await statusOf(app, { "content-length": `${large.length}` }, "", large)).toBe("413");
    expect(await statusOf(app, chunked, piece.repeat(32), piece.repeat(32))).toBe("413");
    expect(await statusOf(app, { "content-length": "2" }, "{", "}")).toBe("408");
    const { socket } = raw(app.ports[0] ?? 0, head({ "content-length": "9" }), "{");
    setTimeout(() => socket.destroy(), 50);
    await once(socket, "close");

    const before = await memory();
    const upload = raw(app.ports[0] ?? 0, head(chunked));
    let most = 0;
    for (let sent = 0; sent < 3200 && !upload.socket.destroyed; sent++) {
      const drained = () => Promise.race([once(upload.socket, "drain").catch(() => {}), upload.answer]);
      if (!upload.socket.write(piece)) await drained();
      if (sent % 400 === 399) most = Math.max(most, await memory());
    }
    upload.socket.destroy();
    expect(await upload.answer).toMatch(/^HTTP\/1.1 413 /);
    expect(Math.max(most, await memory()) - before).toBeLessThan(50 * 2 ** 20);

    const { headers, body } = delivered();
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
    await app.written("handled");
    await app.stop();
  },
);
