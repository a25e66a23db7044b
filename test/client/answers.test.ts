import fc from "fast-check";
import { MalformedAnswer, parseBody } from "../../src/client/answer";
import { parseEndpoint, parseList } from "../../src/client/parse";
import { linksToNextPage } from "../../src/client/partialList";
import { endpoint } from "./support";

describe("parseEndpoint", () => {
  test("parseEndpoint returns a frozen snapshot of the documented fields only", () => {
    const parsed = parseEndpoint({ ...endpoint, secret: "whsec_x", ip: "192.0.2.1" });
    expect(parsed).toEqual(endpoint);
    expect(Object.isFrozen(parsed)).toBe(true);
  });

  test.each([
    ["absent", {}],
    ["null", { createdAt: null, updatedAt: null }],
  ])("parseEndpoint returns null for timestamps that are %s", (_, timestamps) => {
    const { id, url, type } = endpoint;
    expect(parseEndpoint({ id, url, type, ...timestamps })).toMatchObject({
      createdAt: null,
      updatedAt: null,
    });
  });

  test("parseEndpoint keeps timestamps verbatim, whatever their format", () => {
    const parsed = parseEndpoint({ ...endpoint, createdAt: "yesterday", updatedAt: 1767225600 });
    expect(parsed).toMatchObject({ createdAt: "yesterday", updatedAt: "1767225600" });
  });

  test("parseEndpoint returns an endpoint of each type", () => {
    for (const type of ["production", "development"])
      expect(parseEndpoint({ ...endpoint, type })).toEqual({ ...endpoint, type });
  });

  test.each([
    ["null", null, "the endpoint is not an object"],
    ["an array", [endpoint], "the endpoint is not an object"],
    ["a string", "wh_1", "the endpoint is not an object"],
    ["an endpoint without an id", { ...endpoint, id: undefined }, "the id of the endpoint is neither"],
    ["an endpoint with an empty id", { ...endpoint, id: "" }, "the id of the endpoint is neither"],
    ["an endpoint with a fraction as its id", { ...endpoint, id: 7.5 }, "nor an integer below 2^53"],
    ["an endpoint with an inexact number as its id", { ...endpoint, id: 2 ** 53 }, "nor an integer"],
    ["an endpoint without a url", { ...endpoint, url: undefined }, "the url of the endpoint is not"],
    ["an endpoint with an object as its url", { ...endpoint, url: {} }, "the url of the endpoint is not"],
    ["an endpoint of another type", { ...endpoint, type: "staging" }, "the type of the endpoint is neither"],
    ["an endpoint whose creation is an object", { ...endpoint, createdAt: {} }, "createdAt of the endpoint"],
    ["an endpoint whose change is a boolean", { ...endpoint, updatedAt: false }, "updatedAt of the endpoint"],
  ])("parseEndpoint refuses %s, and says why", (_, value, reason) => {
    const parse = () => parseEndpoint(value);
    expect(parse).toThrow(MalformedAnswer);
    expect(parse).toThrow(reason);
  });
});

describe("parseList", () => {
  test.each(["data", "items", "webhooks", "endpoints", "results"])(
    "parseList finds the endpoints under %s",
    (name) => {
      expect(parseList({ [name]: [endpoint] }, {}).endpoints).toEqual([endpoint]);
    },
  );

  test("parseList returns a frozen list that is complete by default and has the service's time", () => {
    const list = parseList([endpoint], { date: "Thu, 01 Jan 1970 00:00:12 GMT" });
    expect(Object.isFrozen(list) && Object.isFrozen(list.endpoints)).toBe(true);
    expect(list.complete).toBe(true);
    expect(list.serverTime).toBe(12_000);
  });

  test.each([
    { next: "https://api.example.com/webhooks?page=2" },
    { next: 2 },
    { hasMore: true },
    { has_more: true },
    { has_more: "yes" },
    { nextCursor: "abc" },
    { pagination: { next: "abc" } },
    { meta: { hasMore: true } },
    { links: { next: "/webhooks?page=2" } },
  ])("parseList calls a list with %j partial", (marker) => {
    expect(parseList({ data: [endpoint], ...marker }, {}).complete).toBe(false);
  });

  test.each([
    { next: null },
    { next: "" },
    { hasMore: false },
    { has_more: "false" },
    { nextCursor: null },
    { links: { next: null, prev: "/webhooks?page=1" } },
  ])("parseList calls a list with %j complete", (marker) => {
    expect(parseList({ data: [endpoint], ...marker }, {}).complete).toBe(true);
  });

  test.each([
    ["</webhooks?page=2>; rel=next", true],
    ['</webhooks?page=2>; rel="next"', true],
    ['</webhooks?page=2>; title="a, b; c"; REL="last Next"', true],
    ['</webhooks?page=1>; rel="prev", </webhooks?page=3>; rel="next"', true],
    [["</a>; rel=prev", "</b>; rel=next"], true],
    ['</webhooks?page=1>; rel="prev"', false],
    ['</webhooks?rel=next>; rel="self"', false],
    ['</a>; rel="nextish"', false],
    ['</a>; title="; rel=next"', false],
    [undefined, false],
  ])("with the Link header %j, linksToNextPage returns %j", (link, partial) => {
    expect(linksToNextPage({ link })).toBe(partial);
  });

  test.each([
    ["null", null],
    ["a string", "[]"],
    ["an object without an array", { count: 0 }],
    ["an envelope that holds an object", { data: {} }],
  ])("parseList refuses %s", (_, value) => {
    const parse = () => parseList(value, {});
    expect(parse).toThrow(MalformedAnswer);
    expect(parse).toThrow(
      "neither an array nor an object with an array under data, items, webhooks, endpoints, results",
    );
  });
});

describe("a row of a list that is not as documented", () => {
  const other = { ...endpoint, id: "wh_2", url: "https://other.example.com/" };
  const { url } = endpoint;

  test.each<[string, object, string | null]>([
    ["a url that is null", { url: null }, null],
    ["no url", { url: undefined }, null],
    ["an empty url", { url: "" }, null],
    ["an object as its url", { url: {} }, null],
    ["an unknown type", { type: "staging" }, url],
    ["a type in another spelling", { type: "Production" }, url],
    ["no type", { type: undefined }, url],
    ["a type that is null", { type: null }, url],
    ["a number as its type", { type: 1 }, url],
    ["an object as its timestamp", { createdAt: {} }, url],
    ["a boolean as its timestamp", { updatedAt: false }, url],
  ])("parseList sets a row aside that has %s", (_, odd, shownUrl) => {
    const list = parseList([{ ...endpoint, ...odd }, other], {});
    expect(list).toMatchObject({ endpoints: [other], complete: true });
    expect(list.unrecognized).toEqual([{ id: endpoint.id, url: shownUrl }]);
    expect([list.unrecognized, ...list.unrecognized].every((part) => Object.isFrozen(part))).toBe(true);
  });

  test.each<[string, unknown]>([
    ["is null", null],
    ["is a string", "wh_1"],
    ["is an array", [endpoint]],
    ["has no id", { ...endpoint, id: undefined }],
    ["has an id that is null", { ...endpoint, id: null }],
    ["has an empty id", { ...endpoint, id: "" }],
    ["has a fraction as its id", { ...endpoint, id: 7.5 }],
    ["has an inexact number as its id", { ...endpoint, id: 2 ** 53 }],
  ])("a list with a row that %s is not complete", (_, row) => {
    expect(parseList([other, row], {})).toMatchObject({
      endpoints: [other],
      unrecognized: [],
      complete: false,
    });
  });

  test("an endpoint that a list shows twice is listed once, and the list is not complete", () => {
    const list = parseList([endpoint, other, { ...endpoint }], {});
    expect(list).toMatchObject({ endpoints: [endpoint, other], unrecognized: [], complete: false });
  });

  test.each<[string, object, string | null]>([
    ["another url", { url: other.url }, null],
    ["another type", { type: "development" }, url],
    ["an unknown type", { type: "staging" }, url],
    ["another time", { createdAt: null }, url],
  ])(
    "if a list shows an id again with %s, no row with this id counts, and the list is not complete",
    (_, difference, shownUrl) => {
      const rows = [endpoint, { ...endpoint, ...difference }, endpoint];
      for (const answer of [rows, rows.toReversed()]) {
        const list = parseList([...answer, other], {});
        expect(list).toMatchObject({ endpoints: [other], complete: false });
        expect(list.unrecognized).toEqual([{ id: endpoint.id, url: shownUrl }]);
      }
    },
  );
});

test("parseBody refuses bytes that are not JSON, and says so without quoting them", () => {
  for (const body of [Buffer.from("<html>secret"), Buffer.from([0x22, 0xff, 0x22])])
    expect(() => parseBody(body)).toThrow(new MalformedAnswer("it is not JSON"));
  expect(() => parseBody(Buffer.from(""))).toThrow(new MalformedAnswer("it is empty"));
});

const some = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(endpoint.id, endpoint.url, "production", null),
);
const almost = fc.record({ id: some, url: some, type: some, createdAt: some }, { requiredKeys: [] });

test("any JSON either parses to valid endpoints or is refused as malformed", () => {
  const answers = fc.oneof(
    some,
    almost,
    fc.array(almost),
    fc.dictionary(fc.constantFrom("data", "items", "next"), fc.array(almost)),
  );
  fc.assert(
    fc.property(answers, (value) => {
      for (const parse of [() => [parseEndpoint(value)], () => parseList(value, {}).endpoints]) {
        try {
          for (const { id, url, type } of parse()) {
            expect(id).toEqual(expect.stringMatching(/./s));
            expect(url).toEqual(expect.stringMatching(/./s));
            expect(["production", "development"]).toContain(type);
          }
        } catch (error) {
          if (!(error instanceof MalformedAnswer)) throw error;
        }
      }
    }),
  );
});

test("any array is a list, whose ids are unique, and that is complete only if it holds each row", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(almost, some)), (rows) => {
      const { endpoints, unrecognized, complete } = parseList(rows, {});
      const ids = [...endpoints, ...unrecognized].map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(complete).toBe(ids.length === rows.length);
    }),
  );
});
