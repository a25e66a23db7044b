import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { type Delivery, memoryDedupe } from "../../src/receiver";
import { clock, deferred, delivered, receiverOf } from "./support";

/** Returns the outcome of the retry of a delivery whose handler did this with it, and resolved after its deadline. */
async function outcomeOfRetry(use: (delivery: Delivery) => unknown): Promise<string | undefined> {
  const time = clock();
  const late = deferred();
  let calls = 0;
  const { receiver, outcomeOf } = receiverOf({
    handlers: {
      async "job.succeeded"(delivery) {
        if (++calls > 1) return;
        use(delivery);
        await late.promise;
      },
    },
    handlerTimeoutMs: 10,
    leaseMs: 30_000,
    dedupe: memoryDedupe({ now: time.now }),
  });
  const request = delivered();
  expect(await receiver.handle(request)).toMatchObject({ status: 503, body: "timed out" });
  late.resolve();
  await new Promise(setImmediate);
  time.pass(30_000);
  return outcomeOf(request);
}

test.each<[string, (delivery: Delivery) => unknown]>([
  ["nothing", () => {}],
  ["a copy by spreading", (delivery) => ({ ...delivery })],
  ["a copy by Object.assign", (delivery) => Object.assign({}, delivery)],
  ["a copy by structuredClone", (delivery) => structuredClone(delivery)],
  ["a proxy", (delivery) => new Proxy(delivery, {}).signal],
  ["what inherits from it", (delivery) => Object.create(delivery).signal],
  [
    "a copy of its properties",
    (d) => Object.defineProperties({ ...d }, Object.getOwnPropertyDescriptors(d)).signal,
  ],
  ["JSON.stringify", (delivery) => JSON.stringify(delivery)],
  ["JSON.stringify of a copy", (delivery) => JSON.stringify({ ...delivery })],
  ["inspect, as console.log does,", (delivery) => inspect(delivery, { getters: true, depth: 5 })],
  ["inspect of a copy", (delivery) => inspect({ ...delivery })],
  ["destructuring", ({ jobId, ...rest }) => [jobId, rest]],
  ["Object.entries", (delivery) => Object.entries(delivery)],
  ["passing the signal on to something that ignores it", ({ signal }) => signal],
  ["instanceof", ({ signal }) => signal instanceof AbortSignal],
])("%s does not change what a late finish means: the delivery was handled", async (_what, use) => {
  expect(await outcomeOfRetry(use)).toBe("duplicate");
});

const ignore = (promise: Promise<unknown>) => void promise.catch(() => {});
test.each<[string, (delivery: Delivery) => unknown]>([
  ["a listener", ({ signal }) => signal.addEventListener("abort", () => {})],
  ["a listener of a copy", (delivery) => ({ ...delivery }).signal.addEventListener("abort", () => {})],
  [
    "onabort",
    ({ signal }) => {
      signal.onabort = () => {};
    },
  ],
  ["a look at aborted", ({ signal }) => signal.aborted],
  ["throwIfAborted", ({ signal }) => signal.throwIfAborted()],
  ["AbortSignal.any", ({ signal }) => AbortSignal.any([signal])],
  ["a timer", ({ signal }) => ignore(sleep(5, undefined, { signal }))],
  ["events.once", ({ signal }) => ignore(once(new EventTarget(), "x", { signal }))],
  ["fetch", ({ signal }) => ignore(fetch("http://127.0.0.1:1/", { signal }))],
  ["a request", ({ signal }) => http.get({ port: 1, signal }).on("error", () => {})],
])("after %s, a handler may have stopped, so the retry is handled again", async (_what, use) => {
  expect(await outcomeOfRetry(use)).toBe("handled");
});

test("the signal works as any other: it fires once, with its reason, and stops what it was given to", async () => {
  const server = http.createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const seen: unknown[] = [];
  const { outcomeOf } = receiverOf({
    handlers: {
      async "job.succeeded"(delivery) {
        const { signal } = { ...delivery };
        signal.onabort = () => seen.push("onabort");
        signal.addEventListener("abort", () => seen.push("listener"));
        expect(() => signal.throwIfAborted()).not.toThrow();
        await fetch(`http://127.0.0.1:${port}/`, { signal }).catch((error) => seen.push(error.code));
        seen.push(signal.aborted, (signal.reason as { code: string }).code, inspect(signal));
        expect(() => signal.throwIfAborted()).toThrow("took longer than 50 ms");
        seen.push("done");
      },
    },
    handlerTimeoutMs: 50,
  });
  expect(await outcomeOf()).toBe("timed-out");
  while (!seen.includes("done")) await sleep(5);
  const inspected = "AbortSignal { aborted: true }";
  expect(seen).toEqual([
    "onabort",
    "listener",
    "HANDLER_DEADLINE",
    true,
    "HANDLER_DEADLINE",
    inspected,
    "done",
  ]);
  server.closeAllConnections();
  server.close();
});

test("the use of a signal shows, or counts as shown, where AbortSignal.any does not look at aborted, as in Node.js 26", () => {
  const state = (signal: object) =>
    Object.getOwnPropertySymbols(signal).find(({ description }) => description === "kAborted");
  const looks = [(signal: object) => Reflect.get(signal, state(signal) ?? ""), () => undefined];
  for (const [index, look] of looks.entries()) {
    const any = jest.spyOn(AbortSignal, "any").mockImplementation((signals) => {
      for (const signal of signals) look(signal);
      return new AbortController().signal;
    });
    jest.isolateModules(() => {
      const { VerifiedDelivery } = require("../../src/receiver/delivery");
      const source = {
        id: "a",
        timestamp: 1,
        event: undefined,
        jobId: undefined,
        data: {},
        rawBody: Buffer.of(),
      };
      const copied = new VerifiedDelivery(source);
      inspect({ ...copied });
      copied.expire(new Error("late"));
      expect(copied.isWatched).toBe(index === 1);
      const passed = new VerifiedDelivery(source);
      AbortSignal.any([passed.signal]);
      expect(passed.isWatched).toBe(true);
    });
    any.mockRestore();
  }
});

test("a receiver loads where process has no versions, as in Cloudflare Workers with an older compatibility date", () => {
  const versions = Object.getOwnPropertyDescriptor(process, "versions");
  Object.defineProperty(process, "versions", { value: undefined, configurable: true });
  try {
    jest.isolateModules(() => expect(() => require("../../src/receiver/delivery")).not.toThrow());
  } finally {
    Object.defineProperty(process, "versions", versions as PropertyDescriptor);
  }
});
