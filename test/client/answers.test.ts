import fc from "fast-check";
import { MalformedAnswer, parseJson } from "../../src/client/json";
import { parseEndpoint } from "../../src/client/parseEndpoint";
import { parseList } from "../../src/client/parseList";
import { listContext } from "../../src/client/responseHeaders";
import { endpoint } from "./support";

const noHints = { linksToNext: false, serverTime: null };

describe("an endpoint", () => {
  test("is a frozen snapshot of the documented fields and no others", () => {
    const parsed = parseEndpoint({ ...endpoint, secret: "whsec_x", ip: "192.0.2.1" });
    expect(parsed).toEqual(endpoint);
    expect(Object.isFrozen(parsed)).toBe(true);
  });

  test.each([
    ["absent", {}],
    ["null", { createdAt: null, updatedAt: null }],
  ])("has null for timestamps that are %s", (_, timestamps) => {
    const { id, url, type } = endpoint;
    expect(parseEndpoint({ id, url, type, ...timestamps })).toMatchObject({
      createdAt: null,
      updatedAt: null,
    });
  });

  test("keeps timestamps verbatim, whatever their format", () => {
    const parsed = parseEndpoint({ ...endpoint, createdAt: "yesterday", updatedAt: 1767225600 });
    expect(parsed).toMatchObject({ createdAt: "yesterday", updatedAt: "1767225600" });
  });

  test.each([
    ["no object", null],
    ["an array", [endpoint]],
    ["a text", "wh_1"],
    ["without id", { ...endpoint, id: undefined }],
    ["with an empty id", { ...endpoint, id: "" }],
    ["with a number as id", { ...endpoint, id: 7 }],
    ["without url", { ...endpoint, url: undefined }],
    ["with an object as url", { ...endpoint, url: {} }],
    ["of another type", { ...endpoint, type: "staging" }],
    ["with a timestamp that is an object", { ...endpoint, createdAt: {} }],
    ["with a timestamp that is a boolean", { ...endpoint, updatedAt: false }],
  ])("is refused when it is %s", (_, value) => {
    expect(() => parseEndpoint(value)).toThrow(MalformedAnswer);
  });
});

describe("a list", () => {
  test.each(["data", "items", "webhooks", "endpoints", "results"])("is understood under %s", (name) => {
    expect(parseList({ [name]: [endpoint] }, noHints).endpoints).toEqual([endpoint]);
  });

  test("is frozen, complete by default, and carries the service's clock", () => {
    const list = parseList([endpoint], { linksToNext: false, serverTime: 12_000 });
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
  ])("is partial with %j", (marker) => {
    expect(parseList({ data: [endpoint], ...marker }, noHints).complete).toBe(false);
  });

  test.each([
    { next: null },
    { next: "" },
    { hasMore: false },
    { has_more: "false" },
    { nextCursor: null },
    { links: { next: null, prev: "/webhooks?page=1" } },
  ])("is complete with %j", (marker) => {
    expect(parseList({ data: [endpoint], ...marker }, noHints).complete).toBe(true);
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
  ])("with the header Link: %j is partial: %j", (link, partial) => {
    expect(listContext({ link }).linksToNext).toBe(partial);
  });

  test.each([
    ["null", null],
    ["a text", "[]"],
    ["an object without an array", { count: 0 }],
    ["an envelope that holds an object", { data: {} }],
    ["one with a hole", [endpoint, null]],
    ["one with an id twice", [endpoint, endpoint]],
  ])("is refused when it is %s", (_, value) => {
    expect(() => parseList(value, noHints)).toThrow(MalformedAnswer);
  });
});

test("bytes that are no JSON are refused without repeating them", () => {
  for (const body of [Buffer.from(""), Buffer.from("<html>secret"), Buffer.from([0x22, 0xff, 0x22])]) {
    expect(() => parseJson(body)).toThrow(MalformedAnswer);
    expect(() => parseJson(body)).not.toThrow(/secret/);
  }
});

test("whatever JSON a service sends, it is an endpoint or a list as promised, or refused", () => {
  const some = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(endpoint.id, endpoint.url, "production", null),
  );
  const almost = fc.record({ id: some, url: some, type: some, createdAt: some }, { requiredKeys: [] });
  const answers = fc.oneof(
    some,
    almost,
    fc.array(almost),
    fc.dictionary(fc.constantFrom("data", "items", "next"), fc.array(almost)),
  );
  fc.assert(
    fc.property(answers, (value) => {
      for (const parse of [() => [parseEndpoint(value)], () => parseList(value, noHints).endpoints]) {
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
