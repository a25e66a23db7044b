import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { openWayTo, postDelivery } from "../../src/shared/post";
import { whatToReach } from "../../src/validation/verdict";

const environment = { ...process.env };
afterEach(() => {
  process.env = { ...environment };
});

test.each(["proxy.example.com:8080", "http://proxy.example.com:8080", "socks5://proxy.example.com", ""])(
  "a receiver is reached through the proxy %p",
  async (proxy) => {
    process.env.HTTPS_PROXY = proxy;
    await openWayTo("https://hooks.example.com/jobs").destroy();
  },
);

test("a proxy that makes no tunnel is named, and what to check then", async () => {
  const proxy = http
    .createServer()
    .on("connect", (_request, socket) => socket.end("HTTP/1.1 407 No\r\n\r\n"));
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  process.env.HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const url = "https://hooks.example.com/jobs";
  const dispatcher = openWayTo(url);
  const answer = await postDelivery({ url, headers: {}, body: "{}", dispatcher });
  await dispatcher.destroy();
  proxy.close();
  expect(answer).toMatchObject({ status: null, failure: "the proxy answered 407" });
  expect(whatToReach()).toMatch(/reach it, and HTTP_PROXY, HTTPS_PROXY and NO_PROXY/);
  expect(whatToReach({})).not.toContain("PROXY");
});

test("what is no proxy is refused without its value, which may hold a password", () => {
  process.env.HTTPS_PROXY = "ftp://user:passw0rd@proxy.example.com";
  const open = () => openWayTo("https://hooks.example.com/jobs");
  expect(open).toThrow(/HTTPS_PROXY or HTTP_PROXY .* is not the URL of a proxy.*\(INVALID_OPTION\)$/);
  expect(open).not.toThrow(/passw0rd/);
});

test("an answer that breaks off after its status is an answer: the receiver goes by what it said", async () => {
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok");
      setTimeout(() => socket.destroy(), 50);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const dispatcher = openWayTo(url);
  const answer = await postDelivery({ url, headers: {}, body: "{}", dispatcher });
  await dispatcher.destroy();
  server.close();
  expect(answer).toMatchObject({ status: 200 });
});

test("a request that its signal ends fails with the name of that, not with a number", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const dispatcher = openWayTo(url);
  const ending = new AbortController();
  server.once("connection", () => ending.abort());
  const answer = await postDelivery({ url, headers: {}, body: "{}", dispatcher, signal: ending.signal });
  await dispatcher.destroy();
  server.close();
  expect(answer).toMatchObject({ status: null, failure: "AbortError" });
});

test("a request whose signal has fired makes no connection, which nobody would end", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const dispatcher = openWayTo(url);
  const connected = jest.fn();
  server.on("connection", connected);
  const answer = await postDelivery({
    url,
    headers: {},
    body: "{}",
    dispatcher,
    signal: AbortSignal.abort(),
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await dispatcher.destroy();
  server.close();
  expect(answer).toMatchObject({ status: null, failure: "AbortError" });
  expect(connected).not.toHaveBeenCalled();
});
