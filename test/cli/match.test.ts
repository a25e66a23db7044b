import * as fc from "fast-check";
import { type Leftover, match } from "../../src/cli/match";
import type { Endpoint, EndpointList } from "../../src/client";

const notBefore = Date.parse("2026-01-01T12:00:00Z");
const surelySince = notBefore;
const at = (seconds: number) => new Date(notBefore + seconds * 1000).toISOString();

const endpoint = (id: string, more: Partial<Endpoint> = {}): Endpoint => ({
  id,
  url: "https://a.example.com/x",
  type: "production",
  createdAt: at(1),
  updatedAt: at(1),
  ...more,
});

const leftover = (index: number, more: Partial<Leftover> = {}): Leftover => ({
  index,
  urn: `urn::${index}`,
  url: "https://a.example.com/x",
  type: "production",
  ip: undefined,
  ...more,
});

const list = (endpoints: readonly Endpoint[], complete = true): EndpointList => ({
  endpoints: [...endpoints],
  complete,
  unrecognized: [],
  serverTime: null,
});

const kinds = (leftovers: Leftover[], endpoints: Endpoint[], complete = true) =>
  match({
    leftovers,
    list: list(endpoints, complete),
    known: new Set(["known"]),
    notBefore,
    surelySince,
  }).map((finding) => (finding.kind === "found" ? finding.endpoint.id : finding.kind));

describe("what a killed run's registration made", () => {
  it.each<[string, Partial<Endpoint>]>([
    ["another url", { url: "https://a.example.com/y" }],
    ["another type", { type: "development" }],
    ["an earlier time", { createdAt: at(-1) }],
    ["an id that the stack knows", { id: "known" }],
  ])("is no endpoint of %s", (_, difference) => {
    expect(kinds([leftover(0)], [endpoint("e", difference)])).toEqual(["nothing"]);
    expect(kinds([leftover(0)], [endpoint("e", difference), endpoint("f")])).toEqual(["f"]);
  });

  it("is recognised in the service's own spelling of the url", () => {
    expect(kinds([leftover(0, { url: "https://A.example.com:443/x" })], [endpoint("e")])).toEqual(["e"]);
  });

  it("is unclear among more candidates than registrations, in a partial list, or without a readable time", () => {
    expect(kinds([leftover(0)], [endpoint("e"), endpoint("f")])).toEqual(["unclear"]);
    expect(kinds([leftover(0)], [endpoint("e")], false)).toEqual(["unclear"]);
    expect(kinds([leftover(0)], [], false)).toEqual(["unclear"]);
    expect(kinds([leftover(0)], [endpoint("e", { createdAt: "yesterday" })])).toEqual(["unclear"]);
  });

  it("is unclear among registrations that differ in ip only, because the service does not tell it", () => {
    const two = [leftover(0, { ip: "192.0.2.1" }), leftover(1, { ip: "192.0.2.2" })];
    expect(kinds(two, [endpoint("e")])).toEqual(["unclear", "unclear"]);
    expect(kinds(two, [endpoint("e"), endpoint("f")])).toEqual(["unclear", "unclear"]);
    expect(kinds(two, [])).toEqual(["nothing", "nothing"]);
  });

  it("gives each endpoint to one registration at most, and each registration one finding", () => {
    const urls = fc.constantFrom("https://a.example.com/x", "https://a.example.com/y");
    const types = fc.constantFrom("production" as const, "development" as const);
    void fc.assert(
      fc.property(
        fc.array(fc.record({ url: urls, type: types }), { maxLength: 8 }),
        fc.array(fc.record({ url: urls, type: types, createdAt: fc.integer({ min: -2, max: 2 }).map(at) }), {
          maxLength: 8,
        }),
        (registrations, endpoints) => {
          const findings = match({
            leftovers: registrations.map((registration, index) => leftover(index, registration)),
            list: list(endpoints.map((made, index) => endpoint(`e${index}`, made))),
            known: new Set(),
            notBefore,
            surelySince,
          });
          const found = findings.flatMap((finding) => (finding.kind === "found" ? [finding] : []));
          expect(findings.map((finding) => finding.leftover.index).sort()).toEqual([...registrations.keys()]);
          expect(new Set(found.map((finding) => finding.endpoint.id)).size).toBe(found.length);
          for (const {
            leftover: { url, type },
            endpoint: made,
          } of found)
            expect(made).toMatchObject({ url, type });
        },
      ),
    );
  });
});
