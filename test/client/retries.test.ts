import { getEventListeners } from "node:events";
import { type Wait, WebhookEndpointNotFoundError, WebhookError, type WebhooksClient } from "../../src/client";
import { HandClock } from "./handClock";
import { simulateService } from "./simulatedService";
import {
  answer,
  cleanUp,
  clientOf,
  closedPort,
  cutShort,
  endpoint,
  hang,
  rejection,
  reset,
  type Step,
  serve,
} from "./support";

afterEach(cleanUp);

const transient: [string, Step][] = [
  ["a reset connection", reset],
  ["408", answer(408)],
  ["429", answer(429)],
  ["429 with Retry-After", answer(429, "", { "retry-after": "0" })],
  ["500", answer(500)],
  ["502", answer(502)],
  ["503", answer(503)],
  ["503 with Retry-After", answer(503, "", { "retry-after": "0" })],
  ["504", answer(504)],
];

describe.each(transient)("after %s", (what, step) => {
  test(`get, list and delete are repeated after ${what}`, async () => {
    const got = await serve(step, step, answer(200, endpoint));
    expect(await got.client().get("wh_1")).toEqual(endpoint);
    expect(got.received).toHaveLength(3);

    const listed = await serve(step, step, answer(200, [endpoint]));
    expect((await listed.client().list()).endpoints).toEqual([endpoint]);

    const deleted = await serve(step, step, answer(204));
    expect(await deleted.client().delete("wh_1")).toBeUndefined();
    expect(deleted.received).toHaveLength(3);
  });

  test(`maxRetries: 0 prevents a repeat after ${what}`, async () => {
    const server = await serve(step, answer(200, endpoint));
    expect(await rejection(server.client({ maxRetries: 0 }).get("wh_1"))).toBeInstanceOf(WebhookError);
    expect(server.received).toHaveLength(1);
  });
});

test("a get is repeated after an answer that breaks off", async () => {
  const server = await serve(cutShort(200), answer(200, endpoint));
  expect(await server.client().get("wh_1")).toEqual(endpoint);
});

test("an operation that keeps failing makes 1 + maxRetries attempts and reports the last answer", async () => {
  const server = await serve(answer(500), answer(500), answer(502, "the last one"));
  const error = await rejection(server.client({ maxRetries: 2 }).list());
  expect(error).toMatchObject({ code: "SERVER_ERROR", statusCode: 502, responseText: "the last one" });
  expect(server.received).toHaveLength(3);
});

test.each([301, 400, 401, 403, 404, 409, 410, 422, 501, 505])(
  "a get is not repeated after %d",
  async (statusCode) => {
    const server = await serve(answer(statusCode, "", { location: "/" }));
    expect(await rejection(server.client().get("wh_1"))).toMatchObject({ statusCode });
    expect(server.received).toHaveLength(1);
  },
);

describe.each([404, 410])("a delete answered with %d", (gone) => {
  test("a delete whose first attempt gets it fails", async () => {
    const server = await serve(answer(gone));
    expect(await rejection(server.client().delete("wh_1"))).toBeInstanceOf(WebhookEndpointNotFoundError);
  });

  test.each(transient.filter(([name]) => !/429|Retry-After/.test(name)))(
    "a delete that gets it after %s succeeds",
    async (_, step) => {
      const server = await serve(step, answer(gone));
      expect(await server.client().delete("wh_1")).toBeUndefined();
    },
  );

  test.each(transient.filter(([name]) => /429|Retry-After/.test(name)))(
    "a delete that gets it after %s fails, because a refused attempt cannot have worked",
    async (_, step) => {
      const server = await serve(step, answer(gone));
      expect(await rejection(server.client().delete("wh_1"))).toBeInstanceOf(WebhookEndpointNotFoundError);
    },
  );
});

test("a delete whose 2xx breaks off succeeds", async () => {
  const server = await serve(cutShort(200));
  expect(await server.client().delete("wh_1")).toBeUndefined();
});

describe("a timeout", () => {
  test("an operation ends at its deadline with an error that says what it was waiting for", async () => {
    const server = await serve(hang);
    const error = await rejection(server.client({ timeoutMs: 200 }).get("wh_1"));
    expect(error).toMatchObject({ code: "TIMED_OUT" });
    expect(error).not.toHaveProperty("statusCode");
    expect((error as Error).message).toContain("got no answer within 0.2 s");
    expect(server.received).toHaveLength(1);
  });

  test("the attempts of an operation take at most 10 s each and share its timeout", async () => {
    const clock = new HandClock();
    const service = simulateService({ clock, refuses: () => false, latencyMs: 60_000, random: () => 0.5 });
    let failedAt = 0;
    const error = rejection(service.client({ timeoutMs: 15_000 }).get("wh_1")).finally(() => {
      failedAt = clock.time;
    });
    await clock.pass(60_000);
    expect(await error).toMatchObject({ code: "TIMED_OUT" });
    expect(service.sentAt).toEqual([0, 10_125]);
    expect(failedAt).toBe(15_000);
  });

  test("an operation ends at its deadline even while a body keeps arriving", async () => {
    const drip: Step = (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    };
    const server = await serve(drip);
    expect(await rejection(server.client({ timeoutMs: 1_500 }).list())).toMatchObject({
      code: "TIMED_OUT",
      statusCode: 200,
    });
  });

  test("waiting for a turn does not count towards the timeout", async () => {
    const slow: Step = (response, received) =>
      setTimeout(() => answer(200, endpoint)(response, received), 100);
    const server = await serve(slow);
    const client = server.client({ timeoutMs: 1_000, maxConcurrency: 1 });
    const all = await Promise.all(Array.from({ length: 14 }, () => client.get("wh_1")));
    expect(all).toHaveLength(14);
  });

  test("pauses that the service asks for do not count towards the timeout", async () => {
    const server = await serve(answer(429, "", { "retry-after": "1" }), answer(200, endpoint));
    expect(await server.client({ timeoutMs: 900 }).get("wh_1")).toEqual(endpoint);
  });
});

describe("an aborted operation", () => {
  const reason = new Error("the user cancelled");

  test("an operation that is aborted before it begins sends nothing", async () => {
    const server = await serve(answer(200, endpoint));
    const error = await rejection(server.client().get("wh_1", { signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({ code: "ABORTED", cause: reason });
    expect(server.received).toHaveLength(0);
  });

  test.each<[string, Step]>([
    ["while it waits for an answer", hang],
    ["during a pause that the service asked for", answer(429, "", { "retry-after": "60" })],
    ["during a backoff", answer(500)],
  ])("an abort %s ends the operation at once", async (_, step) => {
    const server = await serve(step);
    const controller = new AbortController();
    const client = clientOf(server.baseUrl, { onWait: () => controller.abort(reason) });
    if (step === hang) void server.arrived(1).then(() => controller.abort(reason));
    expect(await rejection(client.get("wh_1", { signal: controller.signal }))).toMatchObject({
      code: "ABORTED",
      cause: reason,
    });
    expect(server.received).toHaveLength(1);
  });

  test("an operation that is aborted during a pause leaves no timer behind, and close resolves", async () => {
    const clock = new HandClock();
    const service = simulateService({ clock, refuses: () => true, retryAfter: "60", random: () => 0.5 });
    const controller = new AbortController();
    const client = service.client();
    const error = rejection(client.get("wh_1", { signal: controller.signal }));
    await clock.pass(1_000);
    expect(clock.pending).toBe(1);
    controller.abort(reason);
    expect(await error).toMatchObject({ code: "ABORTED", cause: reason });
    await client.close();
    expect(clock.pending).toBe(0);
  });

  test("an abort of one operation leaves the others alone", async () => {
    const server = await serve(hang, answer(200, endpoint));
    const client = server.client();
    const controller = new AbortController();
    const first = rejection(client.get("wh_1", { signal: controller.signal }));
    await server.arrived(1);
    const second = client.get("wh_1");
    controller.abort();
    expect(await first).toMatchObject({ code: "ABORTED" });
    expect(await second).toEqual(endpoint);
  });

  test("a signal that many operations share keeps none of their listeners", async () => {
    const server = await serve(answer(200, endpoint));
    const { signal } = new AbortController();
    const client = server.client({ maxConcurrency: 8 });
    await Promise.all(Array.from({ length: 50 }, () => client.get("wh_1", { signal })));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("a pause that the service asks for", () => {
  test("a pause that the service asks for holds for every request of the client", async () => {
    const server = await serve(answer(429, "", { "retry-after": "1" }), answer(200, endpoint));
    let first: Promise<unknown> = Promise.resolve();
    const client = await new Promise<WebhooksClient>((resolve) => {
      const waiting = server.client({ onWait: () => resolve(waiting) });
      first = waiting.get("wh_1");
    });
    await Promise.all([first, client.get("wh_1"), client.get("wh_1")]);
    const [refused, ...later] = server.received;
    for (const { at } of later) expect(at - (refused?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test("a pause given as a date is read on the service's own clock", async () => {
    const headers = { date: "Thu, 01 Jan 2004 00:00:00 GMT", "retry-after": "Thu, 01 Jan 2004 00:00:01 GMT" };
    const waits: Wait[] = [];
    const server = await serve(answer(503, "", headers), answer(200, [endpoint]));
    await server.client({ onWait: (wait) => waits.push(wait) }).list();
    expect(waits).toEqual([
      { operation: "list", attempt: 1, delayMs: 1_000, code: "SERVER_ERROR", statusCode: 503 },
    ]);
  });

  test("onWait is called once for all requests that share a pause, and for each backoff", async () => {
    const waits: Wait[] = [];
    const onWait = (wait: Wait) => {
      waits.push(wait);
      throw new Error("a bug of the listener");
    };
    const refuseAllAtOnce: Step = (response, received) => {
      void server.arrived(3).then(() => answer(429, "", { "retry-after": "0" })(response, received));
    };
    const server = await serve(refuseAllAtOnce, refuseAllAtOnce, refuseAllAtOnce, answer(200, endpoint));
    const client = server.client({ onWait });
    await Promise.all([client.get("wh_1"), client.get("wh_1"), client.get("wh_1")]);
    expect(waits).toHaveLength(1);

    waits.length = 0;
    const client2 = clientOf(`http://127.0.0.1:${await closedPort()}`, { onWait });
    await rejection(client2.get("wh_1"));
    expect(waits.map(({ attempt, code }) => ({ attempt, code }))).toEqual(
      [1, 2, 3].map((attempt) => ({ attempt, code: "UNREACHABLE" })),
    );
  });
});
