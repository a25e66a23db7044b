import { type BodyTimeoutOptions, fetchHandler } from "../../../src/receiver/adapters/fetch";
import { deferred, delivered, receiverOf } from "../support";
import { heldBytes } from "./heldBytes";

const warning = jest.spyOn(process, "emitWarning").mockImplementation();
afterAll(() => warning.mockRestore());

function setUp({ bodyTimeoutMs, ...options }: Parameters<typeof receiverOf>[0] & BodyTimeoutOptions = {}) {
  const handler = jest.fn();
  const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
  // As in a route of Next.js: export const POST = fetchHandler(receiver);
  const POST = fetchHandler(made.receiver, { bodyTimeoutMs });
  return { ...made, handler, POST };
}

/** Returns a request as a platform passes it on; its body may be a stream. */
function requestOf(
  { headers = {}, body = null }: Pick<RequestInit, "headers" | "body"> = delivered(),
): Request {
  // Node requires `duplex` with a stream.
  return new Request("https://hooks.example.com/jobs", {
    method: "POST",
    headers,
    body,
    duplex: "half",
  } as RequestInit);
}

test("a route handler answers a delivery, its copy, a tampered one, one without a body, and another method", async () => {
  const { POST, handler, outcomes } = setUp();
  const { headers, body } = delivered();
  for (let copy = 0; copy < 2; copy++) expect((await POST(requestOf({ headers, body }))).status).toBe(200);
  expect(outcomes).toMatchObject([{ outcome: "handled" }, { outcome: "duplicate" }]);
  const refused = await POST(requestOf({ headers, body: "{}" }));
  expect([refused.status, await refused.text()]).toEqual([401, "not verified"]);
  expect((await POST(requestOf({ headers }))).status).toBe(401);
  const got = await POST(new Request("https://hooks.example.com/jobs"));
  expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
  expect(handler).toHaveBeenCalledTimes(1);
});

test("a header sent twice, which Fetch joins, is refused unless it holds a matching signature", async () => {
  const { POST, rejections } = setUp();
  const { headers, body } = delivered();
  for (const name of Object.keys(headers)) {
    const doubled = new Headers(headers);
    doubled.append(name, "other");
    expect((await POST(requestOf({ headers: doubled, body }))).status).toBe(401);
    expect(rejections.pop()?.reason).toBe(name.replace("webhook", "malformed"));
  }
  const repeated = new Headers(headers);
  repeated.append("webhook-signature", headers["webhook-signature"]);
  expect((await POST(requestOf({ headers: repeated, body }))).status).toBe(200);
});

describe("of bodies at their limits,", () => {
  test("one that claims to be too large is not read at all", async () => {
    const { POST, rejections } = setUp({ maxBodyBytes: 10 });
    const [pull, cancel] = [jest.fn(), jest.fn()];
    const body = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
    expect((await POST(requestOf({ headers: { "content-length": "11" }, body }))).status).toBe(413);
    expect(pull).not.toHaveBeenCalled();
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(rejections).toMatchObject([{ reason: "size" }]);
  });

  test("an endless one is refused and cancelled, and one of exactly the limit is accepted", async () => {
    const { headers, body } = delivered();
    const { POST } = setUp({ maxBodyBytes: body.length });
    const cancelled = deferred();
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(100)),
      cancel: () => cancelled.resolve(),
    });
    expect((await POST(requestOf({ headers: {}, body: endless }))).status).toBe(413);
    await cancelled.promise;
    expect((await POST(requestOf({ headers, body }))).status).toBe(200);
  });

  test("a slow one is given up, even if its source ignores the cancellation", async () => {
    const { POST, rejections } = setUp({ bodyTimeoutMs: 20 });
    const body = new ReadableStream({ cancel: () => new Promise(() => {}) });
    expect((await POST(requestOf({ headers: {}, body }))).status).toBe(408);
    expect(rejections).toMatchObject([{ reason: "incomplete-body" }]);
  });

  test("one that breaks off is reported as incomplete, and no handler is called", async () => {
    const { POST, rejections, handler } = setUp();
    const { headers, body: bytes } = delivered();
    let pulls = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(bytes);
        else controller.error(new Error("connection reset"));
      },
    });
    expect((await POST(requestOf({ headers, body }))).status).toBe(408);
    expect(rejections).toMatchObject([{ reason: "incomplete-body" }]);
    expect(handler).not.toHaveBeenCalled();
  });

  test("one of 200,000 chunks of one byte takes no more memory than its bytes", async () => {
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
    expect((await POST(requestOf({ headers: {}, body }))).status).toBe(401);
    expect(held).toBeLessThan(8 * 2 ** 20);
  });
});

test.each<[string, (request: Request) => unknown]>([
  ["json()", (request) => request.json()],
  ["text()", (request) => request.text()],
  ["a reader", (request) => request.body?.getReader()],
])(
  "a body that %s has read before is answered 500 with advice, and a clone made before is verified",
  async (_by, read) => {
    const { POST, rejections, handler } = setUp();
    const request = requestOf();
    const untouched = request.clone();
    await read(request);
    expect((await POST(request)).status).toBe(500);
    expect(rejections).toMatchObject([
      { reason: "parsed-body", advice: expect.stringMatching(/request\.clone\(\)/) },
    ]);
    expect(handler).not.toHaveBeenCalled();
    expect((await POST(untouched)).status).toBe(200);
  },
);

test("a receiver that fails is answered 500", async () => {
  const log = jest.spyOn(console, "error").mockImplementation();
  const POST = fetchHandler({ ...receiverOf().receiver, handle: () => Promise.reject(new Error("mine")) });
  expect((await POST(requestOf())).status).toBe(500);
  expect(log).toHaveBeenCalledWith(
    expect.stringMatching(/^fetchHandler: the receiver failed/),
    expect.any(Error),
  );
  log.mockRestore();
});

test("fetchHandler throws for what is no receiver and a wrong timeout, and has a type that refuses Hono's context", async () => {
  // @ts-expect-error In Hono, pass c.req.raw.
  expect((await setUp().POST({ req: { raw: requestOf() } })).status).toBe(405);
  expect(() => fetchHandler(Promise.resolve() as never)).toThrow(/did not get a receiver/);
  expect(() => setUp({ bodyTimeoutMs: 2 ** 31 })).toThrow(RangeError);
});
