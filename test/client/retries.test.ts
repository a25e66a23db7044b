import { getEventListeners } from "node:events";
import { type Wait, WebhookEndpointNotFoundError, WebhookError } from "../../src/client";
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

describe.each(transient)("after %s", (_, step) => {
  test("get, list and delete try again", async () => {
    const got = await serve(step, step, answer(200, endpoint));
    expect(await got.client().get("wh_1")).toEqual(endpoint);
    expect(got.received).toHaveLength(3);

    const listed = await serve(step, step, answer(200, [endpoint]));
    expect((await listed.client().list()).endpoints).toEqual([endpoint]);

    const deleted = await serve(step, step, answer(204));
    expect(await deleted.client().delete("wh_1")).toBeUndefined();
    expect(deleted.received).toHaveLength(3);
  });

  test("nothing is tried again with maxRetries: 0", async () => {
    const server = await serve(step, answer(200, endpoint));
    expect(await rejection(server.client({ maxRetries: 0 }).get("wh_1"))).toBeInstanceOf(WebhookError);
    expect(server.received).toHaveLength(1);
  });
});

test("an answer that breaks off is asked for again", async () => {
  const server = await serve(cutShort(200), answer(200, endpoint));
  expect(await server.client().get("wh_1")).toEqual(endpoint);
});

test("an attempt that fails to the end is made 1 + maxRetries times, and its last answer is what is reported", async () => {
  const server = await serve(answer(500), answer(500), answer(502, "the last one"));
  const error = await rejection(server.client({ maxRetries: 2 }).list());
  expect(error).toMatchObject({ code: "SERVER_ERROR", statusCode: 502, responseText: "the last one" });
  expect(server.received).toHaveLength(3);
});

test.each([301, 400, 401, 403, 404, 409, 410, 422, 501, 505])("%d is not tried again", async (statusCode) => {
  const server = await serve(answer(statusCode, "", { location: "/" }));
  expect(await rejection(server.client().get("wh_1"))).toMatchObject({ statusCode });
  expect(server.received).toHaveLength(1);
});

describe("a delete that meets 404", () => {
  test("at once, found nothing", async () => {
    const server = await serve(answer(404));
    expect(await rejection(server.client().delete("wh_1"))).toBeInstanceOf(WebhookEndpointNotFoundError);
  });

  test.each(transient.filter(([name]) => !/429|Retry-After/.test(name)))(
    "after %s, has worked before",
    async (_, step) => {
      const server = await serve(step, answer(404));
      expect(await server.client().delete("wh_1")).toBeUndefined();
    },
  );

  test.each(transient.filter(([name]) => /429|Retry-After/.test(name)))(
    "after %s, found nothing: what was refused cannot have worked",
    async (_, step) => {
      const server = await serve(step, answer(404));
      expect(await rejection(server.client().delete("wh_1"))).toBeInstanceOf(WebhookEndpointNotFoundError);
    },
  );
});

test("a delete whose 2xx breaks off has worked", async () => {
  const server = await serve(cutShort(200));
  expect(await server.client().delete("wh_1")).toBeUndefined();
});

describe("time-outs", () => {
  test("an operation ends at its deadline, with what it waited for as the reason", async () => {
    const server = await serve(hang);
    const error = await rejection(server.client({ timeoutMs: 200 }).get("wh_1"));
    expect(error).toMatchObject({ code: "TIMED_OUT" });
    expect(error).not.toHaveProperty("statusCode");
    expect((error as Error).message).toContain("got no answer within 0.2 s");
    expect(server.received).toHaveLength(1);
  });

  test("a body that does not end is not waited for either", async () => {
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

  test("waiting for a turn is not counted", async () => {
    const slow: Step = (response, received) =>
      setTimeout(() => answer(200, endpoint)(response, received), 100);
    const server = await serve(slow);
    const client = server.client({ timeoutMs: 1_000, maxConcurrency: 1 });
    const all = await Promise.all(Array.from({ length: 14 }, () => client.get("wh_1")));
    expect(all).toHaveLength(14);
  });

  test("waiting because the service asked to is not counted", async () => {
    const server = await serve(answer(429, "", { "retry-after": "1" }), answer(200, endpoint));
    expect(await server.client({ timeoutMs: 900 }).get("wh_1")).toEqual(endpoint);
  });
});

describe("an abort", () => {
  const reason = new Error("the user had enough");

  test("before it begins, sends nothing", async () => {
    const server = await serve(answer(200, endpoint));
    const error = await rejection(server.client().get("wh_1", { signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({ code: "ABORTED", cause: reason });
    expect(server.received).toHaveLength(0);
  });

  test.each<[string, Step]>([
    ["while an answer is awaited", hang],
    ["while the service wants it to wait", answer(429, "", { "retry-after": "60" })],
    ["while it backs off", answer(500)],
  ])("%s, ends it at once", async (_, step) => {
    const server = await serve(step);
    const controller = new AbortController();
    const client = clientOf(server.baseUrl, { onWait: () => controller.abort(reason) });
    if (step === hang) setTimeout(() => controller.abort(reason), 50);
    expect(await rejection(client.get("wh_1", { signal: controller.signal }))).toMatchObject({
      code: "ABORTED",
      cause: reason,
    });
    expect(server.received).toHaveLength(1);
  });

  test("of one operation leaves the others alone", async () => {
    const server = await serve(hang, answer(200, endpoint));
    const client = server.client();
    const controller = new AbortController();
    const first = rejection(client.get("wh_1", { signal: controller.signal }));
    while (server.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const second = client.get("wh_1");
    controller.abort();
    expect(await first).toMatchObject({ code: "ABORTED" });
    expect(await second).toEqual(endpoint);
  });

  test("signal that many operations share keeps none of their listeners", async () => {
    const server = await serve(answer(200, endpoint));
    const { signal } = new AbortController();
    const client = server.client({ maxConcurrency: 8 });
    await Promise.all(Array.from({ length: 50 }, () => client.get("wh_1", { signal })));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("what the service asks to wait", () => {
  test("holds for every request of the client", async () => {
    const server = await serve(answer(429, "", { "retry-after": "1" }), answer(200, endpoint));
    const client = server.client();
    const first = client.get("wh_1");
    while (server.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.all([first, client.get("wh_1"), client.get("wh_1")]);
    const [refused, ...later] = server.received;
    for (const { at } of later) expect(at - (refused?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test("may be a date, which is read on the service's own clock", async () => {
    const headers = { date: "Thu, 01 Jan 2004 00:00:00 GMT", "retry-after": "Thu, 01 Jan 2004 00:00:01 GMT" };
    const waits: Wait[] = [];
    const server = await serve(answer(503, "", headers), answer(200, [endpoint]));
    await server.client({ onWait: (wait) => waits.push(wait) }).list();
    expect(waits).toEqual([
      { operation: "list", attempt: 1, delayMs: 1_000, code: "SERVER_ERROR", statusCode: 503 },
    ]);
  });

  test("is told once for the requests that share it, and a backoff each", async () => {
    const waits: Wait[] = [];
    const onWait = (wait: Wait) => {
      waits.push(wait);
      throw new Error("a listener's own problem");
    };
    const refuse = answer(429, "", { "retry-after": "0" });
    const server = await serve(refuse, refuse, refuse, answer(200, endpoint));
    const client = server.client({ onWait });
    await Promise.all([client.get("wh_1"), client.get("wh_1"), client.get("wh_1")]);
    expect(waits.length).toBeGreaterThanOrEqual(1);
    expect(waits.length).toBeLessThanOrEqual(3);

    waits.length = 0;
    const client2 = clientOf(`http://127.0.0.1:${await closedPort()}`, { onWait });
    await rejection(client2.get("wh_1"));
    expect(waits.map(({ attempt, code }) => ({ attempt, code }))).toEqual(
      [1, 2, 3].map((attempt) => ({ attempt, code: "UNREACHABLE" })),
    );
  });

  test("for ever, ends with all requests that wait for it", async () => {
    const server = await serve(answer(429, "slow down", { "retry-after": "0" }));
    const client = server.client({ maxConcurrency: 2 });
    const errors = await Promise.all(Array.from({ length: 6 }, () => rejection(client.get("wh_1"))));
    for (const error of errors) expect(error).toMatchObject({ code: "RATE_LIMITED" });
    expect(server.received.length).toBeLessThan(30);
  }, 60_000);
});
