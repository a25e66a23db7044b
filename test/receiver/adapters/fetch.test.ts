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
  test.each<[string, Record<string, string>, Uint8Array, number, string]>([
    ["claims to be too large", { "content-length": `${MOST + 1}` }, Buffer.alloc(0), 413, "size"],
    ["is too large", {}, Buffer.alloc(MOST + 1), 413, "size"],
    ["is too slow", {}, Buffer.alloc(1), 408, "incomplete-body"],
  ])(
    "one that %s is refused at once; what still arrives is read, so that its server neither fails nor fills",
    async (_what, headers, begin, status, reason) => {
      const { POST, rejections } = setUp({ maxBodyBytes: MOST, bodyTimeoutMs: 20 });
      const cancel = jest.fn();
      // Like the streams of some servers, it throws once it is cancelled, and does not wait until it is read.
      let server = {} as ReadableStreamDefaultController;
      const body = new ReadableStream({
        start(controller) {
          server = controller;
        },
        cancel,
      });
      server.enqueue(begin);
      expect((await POST(requestOf({ headers, body }))).status).toBe(status);
      for (let chunk = 0; chunk < 100; chunk++) {
        server.enqueue(new Uint8Array(100));
        await new Promise(setImmediate);
        expect(server.desiredSize).toBe(1);
      }
      server.close();
      expect(cancel).not.toHaveBeenCalled();
      expect(rejections).toEqual([{ reason, status }]);
      expect((await POST(requestOf())).status).toBe(200);
    },
  );

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
