import fc from "fast-check";
import { type Headers, MalformedAnswer, parseBody } from "../../src/client/answer";
import { parseEndpoint, parseList } from "../../src/client/parse";
import { endpoint } from "./support";

const other = { ...endpoint, id: "wh_2", url: "https://other.example.com/" };

test("parseEndpoint returns a frozen snapshot of the documented fields only", () => {
  const parsed = parseEndpoint({ ...endpoint, type: "development", secret: "whsec_x", ip: "192.0.2.1" });
  expect(parsed).toEqual({ ...endpoint, type: "development" });
  expect(Object.isFrozen(parsed)).toBe(true);
});

test.each([
  [
    { createdAt: undefined, updatedAt: null },
    { createdAt: null, updatedAt: null },
  ],
  [
    { createdAt: "yesterday", updatedAt: 1767225600 },
    { createdAt: "yesterday", updatedAt: "1767225600" },
  ],
  [{ id: 7 }, { id: "7" }],
])("parseEndpoint reads %j as %j", (written, read) => {
  expect(parseEndpoint({ ...endpoint, ...written })).toEqual({ ...endpoint, ...read });
});

test.each([
  ["null", null, "the endpoint is not an object"],
  ["an array", [endpoint], "the endpoint is not an object"],
  ["an endpoint without an id", { ...endpoint, id: undefined }, "the id of the endpoint is neither"],
  ["an endpoint with an empty id", { ...endpoint, id: "" }, "the id of the endpoint is neither"],
  ["an endpoint with an inexact number as its id", { ...endpoint, id: 2 ** 53 }, "nor an integer"],
  ["an endpoint without a url", { ...endpoint, url: undefined }, "the url of the endpoint is not"],
  ["an endpoint of another type", { ...endpoint, type: "staging" }, "the type of the endpoint is neither"],
  ["an endpoint whose creation is an object", { ...endpoint, createdAt: {} }, "a timestamp is neither"],
])("parseEndpoint refuses %s, and says why", (_, value, reason) => {
  expect(() => parseEndpoint(value)).toThrow(MalformedAnswer);
  expect(() => parseEndpoint(value)).toThrow(reason);
});

test("parseList returns a frozen list that is complete and has the service's time", () => {
  const list = parseList([endpoint], { date: "Thu, 01 Jan 1970 00:00:12 GMT" });
  expect(list).toEqual({ endpoints: [endpoint], unrecognized: [], complete: true, serverTime: 12_000 });
  expect([list, list.endpoints, list.unrecognized].every(Object.isFrozen)).toBe(true);
  expect(parseList([], { date: "soon" }).serverTime).toBeNull();
});

test.each(["data", "items", "webhooks", "endpoints", "results"])(
  "parseList finds the rows under %s",
  (name) => {
    expect(parseList({ [name]: [endpoint] }, {}).endpoints).toEqual([endpoint]);
  },
);

test.each([null, "[]", { count: 0 }, { data: {} }])("parseList refuses %j", (value) => {
  expect(() => parseList(value, {})).toThrow(MalformedAnswer);
  expect(() => parseList(value, {})).toThrow("neither an array nor an object with an array under data");
});

const partial: [object, Headers][] = [
  ...[
    { next: "/webhooks?page=2" },
    { next: 2 },
    { hasMore: true },
    { has_more: "yes" },
    { nextCursor: "abc" },
    { continuationToken: "abc" },
  ],
  ...[{ next_page_token: "a" }, { "@odata.nextLink": "/2" }, { meta: { pagination: { next: "a" } } }],
  ...[{ pageInfo: { hasNextPage: true } }, { links: { next: "/2" } }, { IsTruncated: true }],
  ...[{ total: 2 }, { total_count: "2" }, { page: { totalElements: 2 } }, { count: 2 }],
  ...[{ total_pages: 2 }, { meta: { current_page: 1, last_page: 3 } }],
].map((marker): [object, Headers] => [marker, {}]);
const whole: [object, Headers][] = [
  ...[{ next: null }, { next: "" }, { hasMore: false }, { nextCursor: null }, { total: null }],
  ...[{ links: { next: null, prev: "/1" } }, { count: 1, total: 1, total_pages: 1, page: 1, per_page: 100 }],
  ...[{ cursor: "abc", limit: 100 }, { isTruncated: false }, { meta: { last_page: 1 } }],
].map((marker): [object, Headers] => [marker, {}]);

test.each<[object, Headers]>([
  ...partial,
  [{}, { "x-next-page": "2" }],
  [{}, { "x-total-count": "2" }],
  [{}, { link: "</webhooks?page=2>; rel=next" }],
  [{}, { link: '</webhooks?page=2>; title="a, b; c"; REL="last Next"' }],
  [{}, { link: ["</a>; rel=prev", "</b>; rel=next"] }],
])("a list with %j in its body and the headers %j is partial", (marker, headers) => {
  expect(parseList({ data: [endpoint], ...marker }, headers).complete).toBe(false);
});

test.each<[object, Headers]>([
  ...whole,
  [{}, { "x-next-page": "" }],
  [{}, { "x-total-count": "1" }],
  [{}, { link: '</webhooks?page=1>; rel="prev"' }],
  [{}, { link: '</webhooks?rel=next>; rel="self"' }],
])("a list with %j in its body and the headers %j is complete", (marker, headers) => {
  expect(parseList({ data: [endpoint], ...marker }, headers).complete).toBe(true);
});

test.each<[string, object, string | null]>([
  ["no url", { url: undefined }, null],
  ["an object as its url", { url: {} }, null],
  ["an unknown type", { type: "staging" }, endpoint.url],
  ["no type", { type: undefined }, endpoint.url],
  ["a boolean as its timestamp", { updatedAt: false }, endpoint.url],
])("parseList sets a row aside that has %s, and reads the others", (_, odd, url) => {
  const list = parseList([{ ...endpoint, ...odd }, other], {});
  expect(list).toMatchObject({ endpoints: [other], complete: true });
  expect(list.unrecognized).toEqual([{ id: endpoint.id, url }]);
});

test.each<[string, unknown]>([
  ["is null", null],
  ["is a string", "wh_1"],
  ["has no id", { ...endpoint, id: undefined }],
  ["has an inexact number as its id", { ...endpoint, id: 2 ** 53 }],
  ["has the id of another row", { ...endpoint, id: other.id }],
])("a list with a row that %s is not complete", (_, row) => {
  const list = parseList([row, other], {});
  expect(list).toMatchObject({ endpoints: [other], unrecognized: [], complete: false });
});

test.each([
  ["<html>secret", "it is not JSON"],
  [Buffer.from([0x22, 0xff, 0x22]), "it is not JSON"],
  ["", "it is empty"],
])("parseBody refuses %j, and does not quote it", (body, problem) => {
  expect(() => parseBody(Buffer.from(body))).toThrow(new MalformedAnswer(problem));
});

test("any JSON parses to a list of valid endpoints with unique ids, or is refused as malformed", () => {
  const some = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(endpoint.id, endpoint.url, "production", null),
  );
  const row = fc.record({ id: some, url: some, type: some, createdAt: some }, { requiredKeys: [] });
  const answers = fc.oneof(
    some,
    fc.array(fc.oneof(row, some)),
    fc.dictionary(fc.constantFrom("data", "items", "next"), fc.array(row)),
  );
  fc.assert(
    fc.property(answers, (value) => {
      try {
        const { endpoints, unrecognized, complete } = parseList(value, {});
        for (const each of endpoints) expect(parseEndpoint(each)).toEqual(each);
        const ids = [...endpoints, ...unrecognized].map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        if (Array.isArray(value)) expect(complete).toBe(ids.length === value.length);
      } catch (error) {
        if (!(error instanceof MalformedAnswer)) throw error;
      }
    }),
  );
});
