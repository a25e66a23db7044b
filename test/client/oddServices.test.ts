import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { WebhookError } from "../../src/client";
import { answer, cleanUp, endpoint, rejection, serve } from "./support";

afterEach(cleanUp);

const { id, url, type } = endpoint;

describe("a service that says that it has more", () => {
  test.each([
    { next_cursor: "abc" },
    { nextPageToken: "abc" },
    { next_page_token: "abc" },
    { next_page: 2 },
    { nextLink: "/webhooks?page=2" },
    { hasNextPage: true },
    { meta: { next_cursor: "abc" } },
    { pagination: { nextPageToken: "abc" } },
    { pagination: { has_next: true } },
    { pageInfo: { hasNextPage: true, endCursor: "abc" } },
    { paging: { next: { after: "2" } } },
    { meta: { pagination: { total_pages: 3 } } },
    { total: 2 },
    { total: "2" },
    { totalCount: 2 },
    { total_count: 2 },
    { count: 57, results_per_page: 1 },
    { meta: { total: 2 } },
    { pagination: { total: 57, per_page: 1 } },
    { total_pages: 2 },
    { totalPages: 2 },
    { pagination: { page: 1, pages: 2 } },
    { page: { totalElements: 2, size: 1 } },
    { continuationToken: "abc" },
    { "@odata.nextLink": "/webhooks?page=2" },
    { cursors: { next: "abc" } },
    { paging: { cursors: { next: "abc" } } },
    { isTruncated: true },
    { IsTruncated: "true" },
    { current_page: 1, last_page: 3 },
    { meta: { currentPage: "1", lastPage: "3" } },
  ])("a list with %j is partial", async (marker) => {
    const server = await serve(answer(200, { data: [endpoint], ...marker }));
    expect((await server.client().list()).complete).toBe(false);
  });
});

describe("a service that says that it has no more", () => {
  test.each([
    { next_cursor: null },
    { nextPageToken: "" },
    { hasNextPage: false },
    { total: 1, total_pages: 1, page: 1, per_page: 100 },
    { count: 1, next: null, previous: null },
    { total: 0 },
    { total: null },
    { meta: { total: 1, pagination: { total_pages: 1 } } },
    { cursor: "abc", limit: 100 },
    { continuationToken: null },
    { "@odata.nextLink": "" },
    { cursors: { next: null, previous: "abc", after: "abc" } },
    { isTruncated: false },
    { isTruncated: "false" },
    { meta: { current_page: 1, last_page: 1 } },
    { meta: { current_page: 3, last_page: 3 } },
    { last_page: 0, current_page: 1 },
    { last_page: 1 },
    { current_page: 2 },
  ])("a list with %j is complete", async (marker) => {
    const server = await serve(answer(200, { data: [endpoint], ...marker }));
    expect((await server.client().list()).complete).toBe(true);
  });
});

describe("the status and the headers of a list", () => {
  test.each<[status: number, headers: Record<string, string>]>([
    [206, {}],
    [200, { "content-range": "items 0-0/2" }],
    [200, { "X-Next-Page": "2" }],
    [200, { "X-Total-Count": "2" }],
  ])("a list with the status %j and the headers %j is partial", async (status, headers) => {
    const server = await serve(answer(status, [endpoint], headers));
    expect(await server.client().list()).toMatchObject({ endpoints: [endpoint], complete: false });
  });

  test.each<Record<string, string>>([
    { "content-range": "items 0-0/1" },
    { "content-range": "items 0-0/*" },
    { "content-range": "bytes 0-180/181" },
    { "X-Next-Page": "" },
    { "X-Total-Count": "1" },
    { "X-Total-Count": "0" },
    { "X-Total-Count": "many" },
  ])("a list with the headers %j is complete", async (headers) => {
    const server = await serve(answer(200, [endpoint], headers));
    expect((await server.client().list()).complete).toBe(true);
  });
});

const codings: [name: string, compress: (body: string) => Buffer][] = [
  ["gzip", gzipSync],
  ["x-gzip", gzipSync],
  ["GZIP", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["br", brotliCompressSync],
];

describe("a service may compress its answers unasked", () => {
  test.each(codings)("a %s answer is understood", async (coding, compress) => {
    const headers = { "content-encoding": coding };
    const server = await serve(answer(200, compress(JSON.stringify(endpoint)), headers));
    expect(await server.client().get(id)).toEqual(endpoint);
    expect(server.received[0]?.headers).not.toHaveProperty("accept-encoding");
  });

  test.each([" GZIP ", "X-Gzip"])("the coding may be spelled %j", async (coding) => {
    const headers = { "content-encoding": coding };
    const server = await serve(answer(200, gzipSync(JSON.stringify(endpoint)), headers));
    expect(await server.client().get(id)).toEqual(endpoint);
  });

  test.each(["", "identity"])("an answer with the coding %j is not compressed", async (coding) => {
    const server = await serve(answer(200, JSON.stringify(endpoint), { "content-encoding": coding }));
    expect(await server.client().get(id)).toEqual(endpoint);
  });

  test("the response text of an error is decompressed", async () => {
    const server = await serve(answer(422, gzipSync("the reason"), { "content-encoding": "gzip" }));
    const error = await rejection(server.client().register({ url, type }));
    expect(error).toMatchObject({ outcome: "not-made", statusCode: 422, responseText: "the reason" });
  });

  const broken: [what: string, coding: string, body: Buffer, reason?: RegExp][] = [
    ["whose data is corrupt", "gzip", Buffer.from("secret-text, not compressed")],
    ["that is truncated", "gzip", gzipSync(JSON.stringify(endpoint)).subarray(0, 40)],
    ["that is corrupt brotli", "br", Buffer.from("secret-text")],
    ["in an unknown coding", "zstd", Buffer.from("secret-text"), /not gzip, deflate or br/],
    ["that is compressed twice", "gzip, gzip", gzipSync(gzipSync(JSON.stringify(endpoint)))],
  ];
  test.each(broken)("an answer %s is an error that says so", async (_, coding, body, reason = /./) => {
    const server = await serve(answer(201, body, { "content-encoding": coding }));
    const error = (await rejection(server.client().register({ url, type }))) as WebhookError;
    expect(error).toMatchObject({ code: "MALFORMED_RESPONSE", statusCode: 201, outcome: "undecided" });
    expect(error.message).toMatch(/the answer cannot be decompressed \(.+\)/);
    expect(error.message).toMatch(reason);
    expect(error.message).not.toContain("secret-text");
    expect(server.received).toHaveLength(1);
  });

  test("maxResponseBytes limits the decompressed bytes", async () => {
    const body = JSON.stringify([{ ...endpoint, filler: "x".repeat(100_000) }]);
    const server = await serve(answer(200, gzipSync(body), { "content-encoding": "gzip" }));
    const error = await rejection(server.client({ maxResponseBytes: body.length - 1 }).list());
    expect(error).toMatchObject({ code: "RESPONSE_TOO_LARGE", statusCode: 200 });
    expect((await server.client({ maxResponseBytes: body.length }).list()).endpoints).toHaveLength(1);
  });

  test("a delete succeeds even if its answer cannot be decompressed", async () => {
    const server = await serve(answer(200, "x", { "content-encoding": "gzip" }));
    expect(await server.client().delete(id)).toBeUndefined();
  });
});

describe("an endpoint of an unknown type", () => {
  const foreign = { id: "wh_9", url: "https://other.example.com", type: "staging" };

  test("an endpoint of an unknown type is kept aside in a list, and known to exist", async () => {
    const nowhere = { id: "wh_8", type: "email" };
    const server = await serve(answer(200, { data: [foreign, endpoint, nowhere], total: 3 }));
    const list = await server.client().list();
    expect(list).toMatchObject({ endpoints: [endpoint], complete: true });
    expect(list.unrecognized).toEqual([
      { id: "wh_9", url: "https://other.example.com" },
      { id: "wh_8", url: null },
    ]);
    expect([list.unrecognized, ...list.unrecognized].every((part) => Object.isFrozen(part))).toBe(true);
  });

  test("one odd endpoint does not make a list fail", async () => {
    const odd = { ...endpoint, id: "wh_9", url: null };
    const server = await serve(answer(200, [odd, endpoint]));
    expect(await server.client().list()).toMatchObject({
      endpoints: [endpoint],
      unrecognized: [{ id: "wh_9", url: null }],
      complete: true,
    });
  });

  test("a get of an endpoint of an unknown type is malformed, not a 404", async () => {
    const server = await serve(answer(200, foreign));
    expect(await rejection(server.client().get("wh_9"))).toMatchObject({ code: "MALFORMED_RESPONSE" });
  });
});

describe("a service that numbers its endpoints", () => {
  test("a numeric id becomes its decimal string", async () => {
    const numbered = { ...endpoint, id: 7 };
    const server = await serve(answer(201, numbered), answer(200, [numbered]), answer(200, numbered));
    const client = server.client();
    expect((await client.register({ url, type })).id).toBe("7");
    expect((await client.list()).endpoints).toEqual([{ ...endpoint, id: "7" }]);
    expect(await client.get("7")).toEqual({ ...endpoint, id: "7" });
    expect(server.received.at(-1)?.path).toBe("/webhooks/7");
  });

  test.each(["9007199254740993", "1.5", "-1e400"])(
    "a list with the inexact numeric id %s is not complete",
    async (number) => {
      const server = await serve(answer(200, JSON.stringify([endpoint]).replace('"wh_1"', number)));
      expect(await server.client().list()).toMatchObject({ endpoints: [], complete: false });
    },
  );
});
