import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { type DeliveryRequest, postDelivery } from "../../src/shared/post";

const environment = { ...process.env };
const servers: Server[] = [];
afterEach(() => {
  process.env = { ...environment };
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

const post = (url: string, options: Partial<DeliveryRequest> = {}) =>
  postDelivery({ url, headers: {}, body: "{}", ...options });

/** Starts a receiver that responds with these bytes, and then ends the connection. */
function serve(bytes: string): Promise<number> {
  return portOf(
    createServer((socket) => {
      socket.once("data", () => socket.write(bytes, () => setTimeout(() => socket.destroy(), 20)));
    }),
  );
}

test("a proxy that makes no tunnel, or whose url is invalid, is named as the failure", async () => {
  const proxy = http.createServer().on("connect", (_, socket) => socket.end("HTTP/1.1 407 No\r\n\r\n"));
  process.env.HTTPS_PROXY = `http://127.0.0.1:${await portOf(proxy)}`;
  expect(await post("https://hooks.example.com/jobs")).toMatchObject({
    status: null,
    failure: "the proxy responded 407",
  });
  process.env.HTTPS_PROXY = "ftp://secret";
  const { failure } = await post("https://hooks.example.com/jobs");
  expect(failure).toMatch(/^HTTPS_PROXY or HTTP_PROXY in the environment is not the URL of a proxy/);
});

test.each([
  ["whole", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", { status: 200, body: Buffer.from("ok") }],
  [
    "that breaks off",
    "HTTP/1.1 401 No\r\ncontent-length: 9\r\n\r\nok",
    { status: 401, failure: "UND_ERR_SOCKET" },
  ],
  ["that is long", "HTTP/1.1 200 OK\r\n\r\n12345678", { status: 200, body: Buffer.from("12345") }],
  ["that redirects", "HTTP/1.1 302 No\r\nlocation: http://127.0.0.1:1\r\n\r\n", { status: 302 }],
  ["that is not HTTP", "secret\r\n\r\n", { status: null, failure: expect.not.stringContaining("secret") }],
])("a response %s is reported with its status", async (_, bytes, expected) => {
  const url = `http://127.0.0.1:${await serve(bytes)}/`;
  expect(await post(url, { maxResponseBytes: 5 })).toMatchObject(expected);
});

test("a receiver that does not respond in time, or that nobody runs, is a failure with a name", async () => {
  const url = `http://127.0.0.1:${await portOf(createServer())}/`;
  expect(await post(url, { timeoutMs: 50 })).toMatchObject({ status: null, failure: "timed out" });
  expect(await post("http://127.0.0.1:1/")).toMatchObject({ status: null, failure: "ECONNREFUSED" });
});

test("a signal ends a request, and one that has fired before makes no connection, which nobody would end", async () => {
  const server = createServer();
  const connected = jest.fn();
  const url = `http://127.0.0.1:${await portOf(server)}/`;
  const ended = { status: null, failure: "AbortError" };
  expect(await post(url, { signal: AbortSignal.abort() })).toMatchObject(ended);
  const ending = new AbortController();
  server.on("connection", connected).once("connection", () => ending.abort());
  expect(await post(url, { signal: ending.signal })).toMatchObject(ended);
  expect(connected).toHaveBeenCalledTimes(1);
});
