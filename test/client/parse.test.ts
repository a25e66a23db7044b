import fc from "fast-check";
import { parseBody, parseEndpoint, parseList } from "../../src/client/parse";
import type { Headers } from "../../src/client/response";
import { endpoint } from "./support";

const other = { ...endpoint, id: "wh_2", url: "https://other.example.com/" };

test("parseEndpoint returns a frozen snapshot of the documented fields only", () => {
  const parsed = parseEndpoint({ ...endpoint, type: "development", secret: "whsec_x", ip: "192.0.2.1" });
  expect(parsed).toEqual({ ...endpoint, type: "development" });
  expect(Object.isFrozen(parsed)).toBe(true);
});

test("parseEndpoint reads what is absent as null, and numbers as text", () => {
  const written = { id: 7, createdAt: undefined, updatedAt: 1767225600 };
  const read = { id: "7", createdAt: null, updatedAt: "1767225600" };
  expect(parseEndpoint({ ...endpoint, ...written })).toEqual({ ...endpoint, ...read });
  const odd = { ...endpoint, createdAt: "yesterday", updatedAt: null };
  expect(parseEndpoint(odd)).toEqual(odd);
});

test("parseList returns a frozen list that is complete and has the service's time", () => {
  const list = parseList([endpoint], { date: "Thu, 01 Jan 1970 00:00:12 GMT" });
  expect(list).toEqual({ endpoints: [endpoint], unrecognized: [], complete: true, serverTime: 12_000 });
  expect([list, list.endpoints, list.unrecognized].every(Object.isFrozen)).toBe(true);
  expect(parseList([], { date: "soon" }).serverTime).toBeNull();
});

test("parseList finds the rows under each documented name", () => {
  for (const name of ["data", "items", "webhooks", "endpoints", "results"])
    expect(parseList({ [name]: [endpoint] }, {}).endpoints).toEqual([endpoint]);
});

test("parseEndpoint reads created_at and updated_at where the documented names are missing", () => {
  const { createdAt, updatedAt, ...untimed } = endpoint;
  const snake = { created_at: createdAt, updated_at: updatedAt };
  expect(parseEndpoint({ ...untimed, ...snake })).toEqual(endpoint);
  expect(parseEndpoint({ ...endpoint, created_at: "another", updated_at: null })).toEqual(endpoint);
  expect(parseEndpoint({ ...untimed, createdAt: null, created_at: "another" }).createdAt).toBeNull();
});

test.each([
  ...[null, { data: null }, { webhooks: null, total: 0 }, { items: null, results: null, count: "0" }],
  ...[{ data: null, page: 0, total_pages: 0, next: "", has_more: false, prev: null }],
  ...[
    { data: null, meta: { pagination: { total: 0, next_cursor: null } } },
    { data: null, links: {} },
  ],
])("parseList reads %j as a complete list without endpoints", (body) => {
  expect(parseList(body, {})).toMatchObject({ endpoints: [], unrecognized: [], complete: true });
});

test("a null list is partial if a header counts endpoints", () => {
  expect(parseList(null, { "x-total-count": "1" }).complete).toBe(false);
});

test.each([
  ...["[]", 0, "", false, {}, { count: 0 }, { data: {} }, { data: "" }, { data: 0 }, { hooks: null }],
  ...[
    { data: null, error: null },
    { data: null, errors: [] },
    { data: null, message: "" },
  ],
  ...[
    { data: null, total: 1 },
    { data: null, page: 1 },
    { data: null, next: "/2" },
    { data: null, error: {} },
  ],
  ...[
    { data: null, items: {} },
    { data: null, meta: { status: 0 } },
    { data: null, account: null },
  ],
  { data: null, meta: { a: { b: { total: 0 } } } },
])("parseList refuses %j", (value) => {
  expect(() => parseList(value, {})).toThrow("neither an array nor an object with an array under data");
});

const partial: object[] = [
  ...[{ next: "/webhooks?page=2" }, { next: 2 }, { hasMore: true }, { has_more: "yes" }],
  ...[{ nextCursor: "abc" }, { continuationToken: "abc" }, { next_page_token: "a" }],
  ...[{ "@odata.nextLink": "/2" }, { meta: { pagination: { next: "a" } } }, { links: { next: "/2" } }],
  ...[{ pageInfo: { hasNextPage: true } }, { IsTruncated: true }, { total: 2 }, { total_count: "2" }],
  ...[{ page: { totalElements: 2 } }, { count: 2 }, { total_pages: 2 }],
  { meta: { current_page: 1, last_page: 3 } },
];
const whole: object[] = [
  ...[{ next: null }, { next: "" }, { hasMore: false }, { nextCursor: null }, { total: null }],
  ...[{ links: { next: null, prev: "/1" } }, { count: 1, total: 1, total_pages: 1, page: 1, per_page: 100 }],
  ...[{ cursor: "abc", limit: 100 }, { isTruncated: false }, { meta: { last_page: 1 } }],
];

test.each<[is: string, marker: object, headers: Headers]>([
  ...partial.map((marker): [string, object, Headers] => ["partial", marker, {}]),
  ["partial", {}, { "x-next-page": "2" }],
  ["partial", {}, { "x-total-count": "2" }],
  ["partial", {}, { link: "</webhooks?page=2>; rel=next" }],
  ["partial", {}, { link: '</webhooks?page=2>; title="a, b; c"; REL="last Next"' }],
  ["partial", {}, { link: ["</a>; rel=prev", "</b>; rel=next"] }],
  ...whole.map((marker): [string, object, Headers] => ["complete", marker, {}]),
  ["complete", {}, { "x-next-page": "" }],
  ["complete", {}, { "x-total-count": "1" }],
  ["complete", {}, { link: '</webhooks?page=1>; rel="prev"' }],
  ["complete", {}, { link: '</webhooks?rel=next>; rel="self"' }],
])("a list is %s with %j in its body and the headers %j", (is, marker, headers) => {
  expect(parseList({ data: [endpoint], ...marker }, headers).complete).toBe(is === "complete");
});

const aside = (url: string | null) => ({ unrecognized: [{ id: endpoint.id, url }], complete: true });
const lost = { unrecognized: [], complete: false };

test.each<[what: string, row: unknown, reason: string, list: object]>([
  ["has no url", { ...endpoint, url: undefined }, "the url of the endpoint is not", aside(null)],
  ["has an object as its url", { ...endpoint, url: {} }, "the url of the endpoint is not", aside(null)],
  ["has an unknown type", { ...endpoint, type: "staging" }, "the type of the endpoint", aside(endpoint.url)],
  ["has no type", { ...endpoint, type: undefined }, "the type of the endpoint", aside(endpoint.url)],
  ["is null", null, "the endpoint is not an object", lost],
  ["is an array", [endpoint], "the endpoint is not an object", lost],
  ["has no id", { ...endpoint, id: undefined }, "the id of the endpoint is neither", lost],
  ["has an empty id", { ...endpoint, id: "" }, "the id of the endpoint is neither", lost],
  ["has an inexact number as its id", { ...endpoint, id: 2 ** 53 }, "nor an integer", lost],
])(
  "an endpoint that %s is refused, and a row like it is set aside by its id, or makes the list incomplete without one",
  (_, row, reason, list) => {
    expect(() => parseEndpoint(row)).toThrow(reason);
    expect(parseList([row, other], {})).toMatchObject({ endpoints: [other], ...list });
  },
);

test("a row with the id of another row makes the list incomplete", () => {
  expect(parseList([{ ...endpoint, id: other.id }, other], {})).toMatchObject({
    endpoints: [other],
    ...lost,
  });
});

test.each([
  ["<html>secret", "it is not JSON"],
  ["", "it is empty"],
])("parseBody refuses %j, and does not quote it", (body, problem) => {
  expect(() => parseBody(Buffer.from(body))).toThrow(new Error(problem));
});

test("any JSON parses to a list of valid endpoints with unique ids, or is refused as malformed", () => {
  const some = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(endpoint.id, endpoint.url, "production", null),
  );
  const row = fc.record({ id: some, url: some, type: some, createdAt: some }, { requiredKeys: [] });
  const bodies = fc.oneof(
    some,
    fc.array(fc.oneof(row, some)),
    fc.dictionary(fc.constantFrom("data", "items", "next"), fc.array(row)),
  );
  fc.assert(
    fc.property(bodies, (value) => {
      try {
        const { endpoints, unrecognized, complete } = parseList(value, {});
        for (const each of endpoints) expect(parseEndpoint(each)).toEqual(each);
        const ids = [...endpoints, ...unrecognized].map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        if (Array.isArray(value)) expect(complete).toBe(ids.length === value.length);
      } catch (error) {
        if (Object(error).constructor !== Error) throw error;
      }
    }),
  );
});

test("a time that is deep JSON is no time, and a list with a hundred thousand unreadable rows has them all", () => {
  const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  const endpoint = { id: "wh_1", url: "https://hooks.example.com/", type: "production", createdAt: deep };
  expect(parseEndpoint(endpoint).createdAt).toBeNull();
  const rows = Array.from({ length: 100_000 }, (_, n) => ({ id: `wh_${n}` }));
  expect(parseList(rows, {}).unrecognized).toHaveLength(100_000);
});
