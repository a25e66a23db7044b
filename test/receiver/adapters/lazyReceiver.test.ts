import http from "node:http";
import type { AddressInfo } from "node:net";
import type { LazyReceiver, Receiver } from "../../../src/receiver";
import { fastifyPlugin } from "../../../src/receiver/adapters/fastify";
import { fetchHandler } from "../../../src/receiver/adapters/fetch";
import { lambdaHandler } from "../../../src/receiver/adapters/lambda";
import { type NodeRequest, type NodeResponse, nodeHandler } from "../../../src/receiver/adapters/node";
import { deferred, delivered, receiverOf } from "../support";

const log = jest.spyOn(console, "error").mockImplementation();
afterEach(() => void log.mockClear());
afterAll(() => log.mockRestore());

const servers: http.Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

type Post = (request?: ReturnType<typeof delivered>) => Promise<number>;
type Given = Receiver | LazyReceiver;

function served(handle: (request: http.IncomingMessage, response: http.ServerResponse) => unknown): Post {
  const server = http.createServer(handle);
  servers.push(server);
  const listening = new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return async ({ headers, body } = delivered()) => {
    await listening;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jobs`;
    return (await fetch(url, { method: "POST", headers, body })).status;
  };
}

/** Each adapter, as its platform calls it. */
const adapters: Readonly<Record<string, (given: Given) => Post | Promise<Post>>> = {
  nodeHandler: (given) => served(nodeHandler(given)),
  fetchHandler(given) {
    const handle = fetchHandler(given);
    return async ({ headers, body } = delivered()) =>
      (await handle(new Request("https://example.com/jobs", { method: "POST", headers, body }))).status;
  },
  lambdaHandler(given) {
    const handle = lambdaHandler(given);
    return async ({ headers, body } = delivered()) =>
      (
        await handle({
          requestContext: { http: { method: "POST" } },
          headers: { ...headers },
          body: `${body}`,
        })
      ).statusCode;
  },
  async fastifyPlugin(given) {
    let route = (_request: { raw: NodeRequest }, _reply: { raw: NodeResponse; hijack(): void }) => {};
    const fastify = {
      removeAllContentTypeParsers() {},
      addContentTypeParser() {},
      post(_path: string, handler: typeof route) {
        route = handler;
      },
    };
    await fastifyPlugin(fastify as never, { receiver: given });
    return served((raw, response) => route({ raw }, { raw: response, hijack() {} }));
  },
};

describe.each(Object.entries(adapters))("%s, given a function,", (_name, adapt) => {
  test("calls it at the first request, and once for several that come at the same time", async () => {
    const { receiver, outcomes } = receiverOf();
    const gate = deferred();
    const create = jest.fn(async () => {
      await gate.promise;
      return receiver;
    });
    const post = await adapt(create as LazyReceiver);
    expect(create).not.toHaveBeenCalled();
    const posting = [post(), post(), post({ ...delivered(), body: Buffer.from("{}") })];
    setTimeout(gate.resolve, 20);
    expect(await Promise.all(posting)).toEqual([200, 200, 401]);
    expect(await post()).toBe(200);
    expect(create).toHaveBeenCalledTimes(1);
    expect(outcomes).toHaveLength(3);
  });

  test("responds with 503 while it fails, says so once a minute, and calls it again at the next request", async () => {
    const now = jest.spyOn(performance, "now");
    const { receiver } = receiverOf();
    const fail = () => {
      throw new Error("WEBHOOK_RECEIVER is not set");
    };
    const failures = [fail, async () => fail(), () => ({}) as Receiver, fail, fail];
    let calls = 0;
    const post = await adapt(() => failures[calls++]?.() ?? receiver);
    now.mockReturnValue(0);
    for (let count = 0; count < 4; count++) expect(await post()).toBe(503);
    expect(log.mock.calls).toEqual([
      [
        expect.stringMatching(/could not be created, so the response is 503.* next request/),
        new Error("WEBHOOK_RECEIVER is not set"),
      ],
    ]);
    now.mockReturnValue(60_000);
    expect(await post()).toBe(503);
    expect(log.mock.calls[1]?.[0]).toMatch(/Since the last such line: 3 more/);
    expect(await post()).toBe(200);
    expect(calls).toBe(6);
    now.mockRestore();
  });

  test("refuses one with parameters at once, with what to pass", async () => {
    const wrong = (_request: unknown) => receiverOf().receiver;
    await expect(async () => adapt(wrong as never)).rejects.toThrow(
      /did not get a receiver.*a function without parameters.*\(\) => createReceiver/,
    );
  });
});

test("a receiver that takes more than ten seconds to create gets 503, and is used once it is there", async () => {
  jest.useFakeTimers();
  const { receiver } = receiverOf();
  const slow = deferred<Receiver>();
  const create = jest.fn(() => slow.promise);
  const handle = fetchHandler(create);
  const post = () => handle(new Request("https://example.com/jobs", delivered()));
  for (let request = 0; request < 2; request++) {
    const first = post();
    await jest.advanceTimersByTimeAsync(10_000);
    expect((await first).status).toBe(503);
  }
  expect(create).toHaveBeenCalledTimes(2);
  slow.resolve(receiver);
  await jest.advanceTimersByTimeAsync(0);
  expect((await post()).status).toBe(200);
  expect(create).toHaveBeenCalledTimes(2);
  jest.useRealTimers();
});
