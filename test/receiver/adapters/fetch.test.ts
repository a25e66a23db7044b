import { type BodyTimeoutOptions, fetchHandler } from "../../../src/receiver/adapters/fetch";
import { deferred, delivered, receiverOf } from "../support";
import { heldBytes } from "./heldBytes";

const log = jest.spyOn(console, "error").mockImplementation();
afterAll(() => log.mockRestore());

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

test("a signature that was sent twice, which Fetch joins, is accepted if it matches", async () => {
  const { POST } = setUp();
  const { headers, body } = delivered();
  const repeated = new Headers(headers);
  repeated.append("webhook-signature", headers["webhook-signature"]);
  expect((await POST(requestOf({ headers: repeated, body }))).status).toBe(200);
});

describe("of bodies at their limits,", () => {
  const MOST = delivered().body.length;
  const DROPPED = 16 * 2 ** 20;

  /** Returns a stream that a sender fills without an end, as fast as it is read, and how much was read. */
  function endless() {
    const chunk = new Uint8Array(2 ** 16);
    const body = { bytes: 0, isCancelled: false };
    const stream = new ReadableStream({
      async pull(controller) {
        await new Promise(setImmediate);
        body.bytes += chunk.length;
        controller.enqueue(chunk);
      },
      cancel() {
        body.isCancelled = true;
      },
    });
    return { stream, body };
  }

  test.each<[string, { method?: string; headers?: Record<string, string> }, number]>([
    ["claims to be too large", { headers: { "content-length": `${MOST + 1}` } }, 413],
    ["is too large", {}, 413],
    ["is not that of a POST", { method: "PUT" }, 405],
  ])(
    "of one without an end that %s, 16 MiB are dropped, and the response asks the server to end the connection",
    async (_what, { method = "POST", headers = {} }, status) => {
      const { POST, rejections } = setUp({ maxBodyBytes: MOST });
      const { stream, body } = endless();
      const response = await POST(
        new Request("https://hooks.example.com", {
          method,
          headers,
          body: stream,
          duplex: "half",
        } as RequestInit),
      );
      expect([response.status, response.headers.get("connection")]).toEqual([status, "close"]);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect(body.bytes).toBeLessThan(DROPPED + MOST + 2 ** 18);
      // The streams of some servers throw where nobody can catch it once they are cancelled.
      expect(body.isCancelled).toBe(false);
      expect(rejections).toMatchObject([{ status }]);
      expect((await POST(requestOf())).status).toBe(200);
    },
  );

  test.each<[string, Record<string, string>, Uint8Array, number, number]>([
    ["is too large, and stops in the middle", {}, Buffer.alloc(MOST + 1), 10_000, 413],
    ["is too slow", {}, Buffer.alloc(1), 20, 408],
  ])(
    "one that %s gets its response, which ends the connection",
    async (_what, headers, begin, bodyTimeoutMs, status) => {
      const { POST, rejections } = setUp({ maxBodyBytes: MOST, bodyTimeoutMs });
      const body = new ReadableStream({ start: (controller) => controller.enqueue(begin) });
      const response = await POST(requestOf({ headers, body }));
      expect([response.status, response.headers.get("connection")]).toEqual([status, "close"]);
      expect(rejections).toMatchObject([{ status }]);
    },
  );

  test("one that is a little too large is read to its end, so its connection stays", async () => {
    const { POST } = setUp({ maxBodyBytes: MOST });
    const response = await POST(requestOf({ body: Buffer.alloc(3 * MOST) }));
    expect([response.status, response.headers.get("connection")]).toEqual([413, null]);
  });

  test("one that breaks off before or after it is refused is reported once, with the platform's error, and no handler is called", async () => {
    const { POST, rejections, handler } = setUp({ bodyTimeoutMs: 20 });
    const limit = new Error("Content-length of 600054 exceeds limit of 524288 bytes.");
    const broken = (when: Promise<unknown>) =>
      new ReadableStream({
        async start(controller) {
          controller.enqueue(delivered().body);
          await when;
          controller.error(limit);
        },
      });
    expect((await POST(requestOf({ ...delivered(), body: broken(Promise.resolve()) }))).status).toBe(408);
    expect(rejections.splice(0)).toEqual([{ reason: "incomplete-body", status: 408, error: limit }]);
    const late = deferred();
    expect((await POST(requestOf({ ...delivered(), body: broken(late.promise) }))).status).toBe(408);
    late.resolve();
    await new Promise(setImmediate);
    expect(rejections).toEqual([{ reason: "incomplete-body", status: 408 }]);
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
  "a body that %s has read before gets 500 with advice, and a clone made before is verified",
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

test("fetchHandler throws for what is no receiver and a wrong timeout, and has a type that refuses Hono's context", async () => {
  // @ts-expect-error In Hono, pass c.req.raw.
  expect((await setUp().POST({ req: { raw: requestOf() } })).status).toBe(405);
  expect(() => fetchHandler(Promise.resolve() as never)).toThrow(/did not get a receiver/);
  expect(() => setUp({ bodyTimeoutMs: 2 ** 31 })).toThrow(RangeError);
});
