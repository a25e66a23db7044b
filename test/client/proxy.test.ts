import dns from "node:dns";
import { createServer } from "node:http";
import { cleanUp, clientOf, endpoint, listen, rejection, reply, serve } from "./support";

const withoutProxy = Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name));
beforeEach(() => {
  process.env = Object.fromEntries(withoutProxy);
});
afterEach(cleanUp);

/** Starts a proxy that refuses every tunnel. */
async function startProxy() {
  const tunnels: { to: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer();
  server.on("connect", (request, socket) => {
    tunnels.push({ to: request.url, authorization: request.headers["proxy-authorization"] });
    socket.on("error", () => {}).end("HTTP/1.1 407 No\r\n\r\n");
  });
  return { port: await listen(server), tunnels };
}

/** Returns what a client of an https service ends in, if its proxy is the one of these variables. */
async function throughProxy(env: Record<string, string>, timeoutMs = 30_000): Promise<unknown> {
  Object.assign(process.env, env);
  const client = clientOf("https://api.example.com", { maxRetries: 0, timeoutMs });
  return rejection(client.register(endpoint));
}

test.each(["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"])(
  "https requests go through the proxy of %s with its password, and a tunnel that it refuses means not-made",
  async (variable) => {
    const proxy = await startProxy();
    const error = await throughProxy({ [variable]: `user:pass@127.0.0.1:${proxy.port}` });
    expect(error).toMatchObject({ code: "UNREACHABLE", outcome: "not-made" });
    expect(String(error)).toContain("407");
    const authorization = `Basic ${Buffer.from("user:pass").toString("base64")}`;
    expect(proxy.tunnels).toEqual([{ to: "api.example.com:443", authorization }]);
  },
);

test("the address of a loopback name is not asked for: who answers would get the API key in plain http", async () => {
  const server = await serve(reply(200, endpoint));
  const lookup = jest.spyOn(dns, "lookup");
  for (const host of ["localhost", "webhooks.localhost"])
    expect(await clientOf(`http://${host}:${server.port}`).get("wh_1")).toEqual(endpoint);
  expect(lookup).not.toHaveBeenCalled();
  lookup.mockRestore();
});

test("requests to this machine, and to what NO_PROXY names, never go through a proxy", async () => {
  const server = await serve(reply(200, endpoint));
  const proxy = await startProxy();
  const url = `http://127.0.0.1:${proxy.port}`;
  for (const host of ["127.0.0.1", "localhost", "webhooks.localhost"]) {
    process.env.HTTP_PROXY = url;
    const client = clientOf(`http://${host}:${server.port}`);
    expect(await client.get("wh_1")).toEqual(endpoint);
  }
  await throughProxy({ HTTPS_PROXY: url, NO_PROXY: "example.org, .example.com" }, 3_000);
  expect(proxy.tunnels).toHaveLength(0);
});

test.each(["p@ss:w0rd", "p%40ss%3Aw0rd"])(
  "a proxy gets the password p@ss:w0rd, given as %s",
  async (given) => {
    const proxy = await startProxy();
    await throughProxy({ HTTPS_PROXY: `http://user:${given}@127.0.0.1:${proxy.port}` });
    const authorization = `Basic ${Buffer.from("user:p@ss:w0rd").toString("base64")}`;
    expect(proxy.tunnels).toMatchObject([{ authorization }]);
  },
);

test.each([
  ...["http://user:secret@:bad:", "ftp://secret", "http://user:1#secret@127.0.0.1:1"],
  ...[
    "http://user:secret#1@127.0.0.1:1",
    "http://user:secret/1@127.0.0.1:1",
    "http://user:secret%1@127.0.0.1:1",
  ],
])(
  "an invalid proxy URL is refused with an error that omits it, and says how to encode a password: %s",
  (proxy) => {
    process.env.HTTPS_PROXY = proxy;
    const open = () => clientOf("https://api.example.com");
    expect(open).toThrow(
      /HTTPS_PROXY or HTTP_PROXY in the environment is not the URL of a proxy.*%23 for #.*INVALID_OPTION/,
    );
    expect(open).not.toThrow(/secret/);
  },
);
