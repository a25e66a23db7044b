import { createServer } from "node:http";
import { connect } from "node:net";
import { Agent } from "undici";
import { WebhookRegistrationError } from "../../src/client";
import { openDispatcher } from "../../src/client/dispatcher";
import { resolveOptions } from "../../src/client/options";
import {
  answer,
  cleanUp,
  clientOf,
  closedPort,
  endpoint,
  listen,
  onCleanUp,
  rejection,
  serve,
} from "./support";

afterEach(cleanUp);

/** Starts a proxy that opens tunnels, or refuses them with a status. */
async function startProxy({ refuseWith }: { refuseWith?: number } = {}) {
  const tunnels: { to: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer();
  server.on("connect", (request, socket) => {
    tunnels.push({ to: request.url, authorization: request.headers["proxy-authorization"] });
    socket.on("error", () => {});
    if (refuseWith !== undefined) {
      socket.end(`HTTP/1.1 ${refuseWith} No\r\n\r\n`);
      return;
    }
    const [host, port] = (request.url ?? "").split(":");
    const target = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    target.on("error", () => socket.destroy());
    socket.on("close", () => target.destroy());
  });
  return { port: await listen(server), tunnels };
}

test.each(["HTTP_PROXY", "http_proxy"])(
  "requests go through the proxy of %s, and authenticate with its password",
  async (variable) => {
    const server = await serve(answer(200, endpoint));
    const proxy = await startProxy();
    const client = clientOf(server.baseUrl, {}, { [variable]: `http://user:pass@127.0.0.1:${proxy.port}` });
    expect(await client.get("wh_1")).toEqual(endpoint);
    expect(proxy.tunnels).toEqual([
      {
        to: `127.0.0.1:${server.port}`,
        authorization: `Basic ${Buffer.from("user:pass").toString("base64")}`,
      },
    ]);
  },
);

test("https requests go through the proxy of HTTPS_PROXY, and a tunnel that it refuses means not-made", async () => {
  const proxy = await startProxy({ refuseWith: 407 });
  const env = {
    HTTPS_PROXY: `127.0.0.1:${proxy.port}`,
    HTTP_PROXY: `http://127.0.0.1:${await closedPort()}`,
  };
  const client = clientOf("https://api.example.com", { maxRetries: 0 }, env);
  const error = await rejection(client.register(endpoint));
  expect(error).toBeInstanceOf(WebhookRegistrationError);
  expect(error).toMatchObject({ code: "UNREACHABLE", outcome: "not-made" });
  expect((error as Error).message).toContain("407");
  expect(proxy.tunnels.map(({ to }) => to)).toEqual(["api.example.com:443"]);
});

test.each(["127.0.0.1", "*", "example.com, 127.0.0.1"])("NO_PROXY=%s bypasses the proxy", async (noProxy) => {
  const server = await serve(answer(200, endpoint));
  const proxy = await startProxy();
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: noProxy };
  expect(await clientOf(server.baseUrl, {}, env).get("wh_1")).toEqual(endpoint);
  expect(proxy.tunnels).toHaveLength(0);
});

test("plain http to this machine never goes through a proxy on another machine", async () => {
  const server = await serve(answer(200, endpoint));
  const client = clientOf(server.baseUrl, {}, { HTTP_PROXY: "http://proxy.invalid:3128" });
  expect(await client.get("wh_1")).toEqual(endpoint);
});

test("a dispatcher given as an option takes precedence over the environment's proxy", async () => {
  const server = await serve(answer(200, endpoint));
  const proxy = await startProxy();
  const dispatcher = new Agent();
  onCleanUp(() => dispatcher.close());
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
  expect(await clientOf(server.baseUrl, { dispatcher }, env).get("wh_1")).toEqual(endpoint);
  expect(proxy.tunnels).toHaveLength(0);
});

test("an invalid proxy URL is refused with an error that omits it", () => {
  const options = resolveOptions({ baseUrl: "https://api.example.com", apiKey: "k" });
  for (const HTTPS_PROXY of ["http://user:secret@:bad:", "ftp://secret"]) {
    const open = () =>
      openDispatcher(options, { env: { HTTPS_PROXY }, closed: new AbortController().signal });
    expect(open).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(open).not.toThrow(/secret/);
  }
});
