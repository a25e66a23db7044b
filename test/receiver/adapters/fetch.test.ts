import { type FetchHandlerOptions, fetchHandler } from "../../../src/receiver/adapters/fetch";
import { Hono } from "../../integration/frameworks/modules";
import { deferred, delivered, receiverOf } from "../support";
import { heldBytes } from "./heldBytes";

function setUp(options: Parameters<typeof receiverOf>[0] & FetchHandlerOptions = {}) {
  const { bodyTimeoutMs, ...rest } = options;
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...rest });
  // As in a route of Next.js: export const POST = fetchHandler(receiver);
  const POST = fetchHandler(made.receiver, { bodyTimeoutMs });
  return { ...made, handler, POST };
}

/** Returns a request as a platform passes it on; its body may be a stream. */
function requestOf(
  { headers = {}, body = null }: Pick<RequestInit, "headers" | "body"> = delivered(),
): Request {
  // Node requires `duplex` with a stream.
  const init: RequestInit = { method: "POST", headers, body, duplex: "half" };
  return new Request("https://hooks.example.com/jobs", init);
}

async function answered(response: Promise<Response>) {
  const { status, headers } = await response;
  return { status, text: await (await response).text(), type: headers.get("content-type") };
}

test("a route handler answers a delivery, its copy, and a tampered one", async () => {
  const { POST, handler, outcomes } = setUp();
  const { headers, body } = delivered();
  expect(await answered(POST(requestOf({ headers, body })))).toMatchObject({ status: 200 });
  expect(await answered(POST(requestOf({ headers, body })))).toMatchObject({ status: 200 });
  expect(outcomes).toMatchObject([{ outcome: "handled" }, { outcome: "duplicate" }]);
  expect(await answered(POST(requestOf({ headers, body: "{}" })))).toEqual({
    status: 401,
    text: "not verified",
    type: "text/plain; charset=utf-8",
  });
  expect(handler).toHaveBeenCalledTimes(1);
});

test("a receiver that rejects, such as one with a broken clock, is answered 500", async () => {
  const log = jest.spyOn(console, "error").mockImplementation(() => {});
  const error = new Error("mine");
  const POST = fetchHandler({ ...receiverOf().receiver, handle: () => Promise.reject(error) });
  expect((await POST(requestOf())).status).toBe(500);
  expect(log).toHaveBeenCalledWith(expect.stringMatching(/^fetchHandler: the receiver failed/), error);
  log.mockRestore();
});

test("a request without a body is not verified, and a method other than POST is answered 405", async () => {
  const { POST } = setUp();
  expect(await answered(POST(requestOf({ headers: delivered().headers })))).toMatchObject({ status: 401 });
  expect((await POST(new Request("https://hooks.example.com/jobs"))).headers.get("allow")).toBe("POST");
});

test("a header sent twice, which Fetch joins, is refused unless it holds a matching signature", async () => {
  const { POST, rejections, handler } = setUp();
  const { headers, body } = delivered();
  for (const name of Object.keys(headers)) {
    const doubled = new Headers(headers);
    doubled.append(name, "other");
    expect(await answered(POST(requestOf({ headers: doubled, body })))).toMatchObject({ status: 401 });
    expect(rejections.pop()?.reason).toBe(name.replace("webhook", "duplicate"));
  }
  expect(handler).not.toHaveBeenCalled();
  const repeated = new Headers(headers);
  repeated.append("webhook-signature", headers["webhook-signature"]);
  expect(await answered(POST(requestOf({ headers: repeated, body })))).toMatchObject({ status: 200 });
  expect(handler).toHaveBeenCalledTimes(1);
});

describe("of bodies at their limits,", () => {
  test("one that claims to be too large is not read at all", async () => {
    const { POST, rejections } = setUp({ maxBodyBytes: 10 });
    const pull = jest.fn();
    const cancel = jest.fn();
    const body = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
    expect(await answered(POST(requestOf({ headers: { "content-length": "11" }, body })))).toMatchObject({
      status: 413,
    });
    expect(pull).not.toHaveBeenCalled();
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(rejections).toMatchObject([{ reason: "size" }]);
  });

  test("an endless one is refused and cancelled", async () => {
    const { POST } = setUp({ maxBodyBytes: 100_000 });
    let pulled = 0;
    const cancelled = deferred();
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(++pulled)),
      cancel: () => cancelled.resolve(),
    });
    expect(await answered(POST(requestOf({ headers: {}, body })))).toMatchObject({ status: 413 });
    await cancelled.promise;
    expect(pulled).toBeLessThan(20);
  });

  test("one of exactly the limit is accepted", async () => {
    const { headers, body } = delivered();
    const { POST } = setUp({ maxBodyBytes: body.length });
    expect(await answered(POST(requestOf({ headers, body })))).toMatchObject({ status: 200 });
  });

  test("a slow one is given up, even if its source ignores the cancellation", async () => {
    const { POST, rejections } = setUp({ bodyTimeoutMs: 20 });
    const body = new ReadableStream({ cancel: () => new Promise(() => {}) });
    expect(await answered(POST(requestOf({ headers: {}, body })))).toMatchObject({ status: 408 });
    expect(rejections).toMatchObject([{ reason: "timeout" }]);
  });

  test("one that breaks off is reported as aborted, and no handler is called", async () => {
    const { POST, rejections, handler } = setUp();
    const { headers, body: bytes } = delivered();
    let pulls = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(bytes);
        else controller.error(new Error("connection reset"));
      },
    });
    expect(await answered(POST(requestOf({ headers, body })))).toMatchObject({ status: 400 });
    expect(rejections).toMatchObject([{ reason: "aborted" }]);
    expect(handler).not.toHaveBeenCalled();
  });

  test("one of 200,000 chunks of one byte uses no more memory than its bytes", async () => {
    const { POST } = setUp();
    const before = heldBytes();
    let held = Number.NaN;
    let left = 200_000;
    const body = new ReadableStream({
      pull(controller) {
        if (left-- > 0) return controller.enqueue(new Uint8Array(1));
        held = heldBytes() - before;
        controller.close();
      },
    });
    expect(await answered(POST(requestOf({ headers: {}, body })))).toMatchObject({ status: 401 });
    expect(held).toBeLessThan(8 * 2 ** 20);
  });
});

describe("a body that was read before", () => {
  const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  afterAll(() => warning.mockRestore());
  const advice = expect.stringMatching(/^fetchHandler: .*request\.clone\(\)/s);

  test("is answered 500 with advice", async () => {
    const { POST, rejections, handler } = setUp();
    for (const read of [
      (request: Request) => request.json(),
      (request: Request) => request.text(),
      (request: Request) => request.body?.getReader(),
    ]) {
      const request = requestOf();
      await read(request);
      expect(await answered(POST(request))).toMatchObject({ status: 500 });
      expect(rejections.pop()).toMatchObject({ reason: "parsed-body", advice });
    }
    expect(handler).not.toHaveBeenCalled();
  });

  test("is verified from a clone made before, as the advice suggests", async () => {
    const { POST } = setUp();
    const request = requestOf();
    const untouched = request.clone();
    await request.json();
    expect(await answered(POST(untouched))).toMatchObject({ status: 200 });
  });

  test("by a middleware of Hono is answered 500 with advice", async () => {
    const { POST, rejections } = setUp();
    const app = new Hono();
    app.use(async (c, next) => {
      await c.req.json();
      await next();
    });
    app.post("/jobs", (c) => POST(c.req.raw));
    expect((await app.request(requestOf())).status).toBe(500);
    expect(rejections).toMatchObject([{ reason: "parsed-body", advice }]);
  });
});

test.each([0, -1, 1.5, 2 ** 31])("a bodyTimeoutMs of %p throws a RangeError", (bodyTimeoutMs) => {
  expect(() => setUp({ bodyTimeoutMs })).toThrow(RangeError);
});
