import { type FetchHandlerOptions, fetchHandler } from "../../../src/receiver/adapters/fetch";
import { Hono } from "../../frameworks/modules";
import { deferred, delivered, receiverOf } from "../support";

function setUp(options: Parameters<typeof receiverOf>[0] & FetchHandlerOptions = {}) {
  const { bodyTimeoutMs, ...rest } = options;
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...rest });
  // As in the file of a route of Next's: export const POST = fetchHandler(receiver);
  const POST = fetchHandler(made.receiver, { bodyTimeoutMs });
  return { ...made, handler, POST };
}

/** A request as a platform hands it over; its body may be a stream. */
function requestOf(
  { headers = {}, body = null }: Pick<RequestInit, "headers" | "body"> = delivered(),
): Request {
  // Node wants `duplex` with a stream.
  const init: RequestInit = { method: "POST", headers, body, duplex: "half" };
  return new Request("https://hooks.example.com/jobs", init);
}

async function answered(response: Promise<Response>) {
  const { status, headers } = await response;
  return { status, text: await (await response).text(), type: headers.get("content-type") };
}

const plain = "text/plain; charset=utf-8";

test("a route handler answers a delivery, its copy, and a tampered one", async () => {
  const { POST, handler } = setUp();
  const { headers, body } = delivered();
  expect(await answered(POST(requestOf({ headers, body })))).toEqual({
    status: 200,
    text: "handled",
    type: plain,
  });
  expect(await answered(POST(requestOf({ headers, body })))).toMatchObject({
    status: 200,
    text: "duplicate",
  });
  expect(await answered(POST(requestOf({ headers, body: "{}" })))).toMatchObject({ status: 401 });
  expect(handler).toHaveBeenCalledTimes(1);
});

test("no body is not verified, and what is no POST is answered 405", async () => {
  const { POST } = setUp();
  expect(await answered(POST(requestOf({ headers: delivered().headers })))).toMatchObject({ status: 401 });
  expect((await POST(new Request("https://hooks.example.com/jobs"))).headers.get("allow")).toBe("POST");
});

test("doubled headers, which Fetch joins, are refused", async () => {
  const { POST, rejections, handler } = setUp();
  const { headers, body } = delivered();
  for (const [name, value] of Object.entries(headers)) {
    const doubled = new Headers(headers);
    doubled.append(name, value);
    expect(await answered(POST(requestOf({ headers: doubled, body })))).toMatchObject({ status: 401 });
    expect(rejections.pop()?.reason).toBe(name.replace("webhook", "duplicate"));
  }
  expect(handler).not.toHaveBeenCalled();
});

describe("a body is read to its limits:", () => {
  test("said to be too large, it is not read at all", async () => {
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

  test("one of exactly the limit is read", async () => {
    const { headers, body } = delivered();
    const { POST } = setUp({ maxBodyBytes: body.length });
    expect(await answered(POST(requestOf({ headers, body })))).toMatchObject({ status: 200 });
  });

  test("a slow one is given up, even if its source hears nothing", async () => {
    const { POST, rejections } = setUp({ bodyTimeoutMs: 20 });
    const body = new ReadableStream({ cancel: () => new Promise(() => {}) });
    expect(await answered(POST(requestOf({ headers: {}, body })))).toMatchObject({ status: 408 });
    expect(rejections).toMatchObject([{ reason: "timeout" }]);
  });

  test("one that breaks off is no delivery", async () => {
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

  test("a million chunks of one byte cost no more memory than their bytes", async () => {
    const { POST } = setUp();
    const before = process.memoryUsage().rss;
    let left = 1_000_000;
    const body = new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(new Uint8Array(1));
        else controller.close();
      },
    });
    expect(await answered(POST(requestOf({ headers: {}, body })))).toMatchObject({ status: 401 });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
  });
});

describe("a body that was read before:", () => {
  const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  afterAll(() => warning.mockRestore());
  const advice = expect.stringMatching(/^fetchHandler: .*request\.clone\(\)/s);

  test("500, and the advice says what to change", async () => {
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

  test("a clone made before, as the advice says, mends it", async () => {
    const { POST } = setUp();
    const request = requestOf();
    const untouched = request.clone();
    await request.json();
    expect(await answered(POST(untouched))).toMatchObject({ status: 200, text: "handled" });
  });

  test("so in Hono, behind a middleware that reads it", async () => {
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

test.each([0, -1, 1.5, 2 ** 31])("a bodyTimeoutMs of %p is a mistake of the program", (bodyTimeoutMs) => {
  expect(() => setUp({ bodyTimeoutMs })).toThrow(RangeError);
});
