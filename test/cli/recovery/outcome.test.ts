import * as fc from "fast-check";
import { decide } from "../../../src/cli/recovery/outcome";
import type { InterruptedRegistration } from "../../../src/cli/recovery/registration";
import type { Endpoint, EndpointList } from "../../../src/client";

const began = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number) => new Date(began + seconds * 1000).toISOString();
/** The stack is a minute older than the run, which took a minute. */
const run = { notBefore: began - 60_000, from: began, until: began + 60_000 };

const endpoint = (id: string, more: Partial<Endpoint> = {}): Endpoint => ({
  id,
  url: "https://a.example.com/x",
  type: "production",
  createdAt: at(1),
  updatedAt: at(1),
  ...more,
});

const registration = (
  index: number,
  more: Partial<InterruptedRegistration> = {},
): InterruptedRegistration => ({
  index,
  urn: `urn::${index}`,
  url: "https://a.example.com/x",
  type: "production",
  ...more,
});

const listOf = (endpoints: readonly Endpoint[], complete = true): EndpointList => ({
  endpoints,
  complete,
  unrecognized: [],
  serverTime: null,
});

const outcomes = (registrations: InterruptedRegistration[], endpoints: Endpoint[], complete = true) =>
  decide({ registrations, list: listOf(endpoints, complete), recorded: new Set(["recorded"]), run });

/** The ids of the endpoints that were made, and the other outcomes' kinds. */
const kinds = (...args: Parameters<typeof outcomes>) =>
  outcomes(...args).map((outcome) => (outcome.kind === "made" ? outcome.endpoint.id : outcome.kind));

it.each<[string, Partial<Endpoint>]>([
  ["has another url", { url: "https://a.example.com/y" }],
  ["has another type", { type: "development" }],
  ["is older than the stack", { createdAt: at(-61) }],
  ["is in the stack's state", { id: "recorded" }],
])("an interrupted registration did not make an endpoint that %s", (_, difference) => {
  expect(kinds([registration(0)], [endpoint("e", difference)])).toEqual(["not-made"]);
  expect(kinds([registration(0)], [endpoint("e", difference), endpoint("f")])).toEqual(["f"]);
});

it("an interrupted registration made the endpoint whose url differs only in the service's spelling", () => {
  expect(kinds([registration(0, { url: "https://A.example.com:443/x" })], [endpoint("e")])).toEqual(["e"]);
});

it.each([
  ["before the interrupted run", -1],
  ["long after the interrupted run", 61],
])(
  "it is unclear whether an endpoint that was made %s came of it, and one may still appear",
  (_, seconds) => {
    const other = endpoint("e", { createdAt: at(seconds) });
    expect(outcomes([registration(0)], [other])).toMatchObject([
      { kind: "unclear", candidates: [{ id: "e" }], mayAppear: true },
    ]);
    expect(kinds([registration(0)], [other, endpoint("f")])).toEqual(["f"]);
    // One of the two may have made it.
    expect(kinds([registration(0), registration(1)], [other, endpoint("f")])).toEqual(["unclear", "unclear"]);
  },
);

it("it is unclear which endpoint came of a registration when there are more than registrations", () => {
  expect(kinds([registration(0)], [endpoint("e"), endpoint("f")])).toEqual(["unclear"]);
});

it("it is unclear what came of a registration when the service lists only a part", () => {
  expect(kinds([registration(0)], [endpoint("e")], false)).toEqual(["unclear"]);
  expect(kinds([registration(0)], [], false)).toEqual(["unclear"]);
});

it("it is unclear whether a registration was made when the service lists its url with an unknown type", () => {
  const decideWith = (endpoints: Endpoint[], id = "odd", url = "https://a.example.com/x") =>
    decide({
      registrations: [registration(0)],
      list: { ...listOf(endpoints), unrecognized: [{ id, url }] },
      recorded: new Set(["recorded"]),
      run,
    }).map(({ kind }) => kind);
  expect(decideWith([])).toEqual(["unclear"]);
  expect(decideWith([endpoint("e")])).toEqual(["made"]);
  expect(decideWith([], "recorded")).toEqual(["not-made"]);
  expect(decideWith([], "odd", "https://a.example.com/y")).toEqual(["not-made"]);
});

it("it is unclear whether an endpoint without a readable time came of a registration", () => {
  for (const createdAt of ["yesterday", null])
    expect(kinds([registration(0)], [endpoint("e", { createdAt })])).toEqual(["unclear"]);
});

it("it is unclear which of two registrations made an endpoint when they differ in ip, which no list shows", () => {
  const two = [registration(0, { ip: "192.0.2.1" }), registration(1, { ip: "192.0.2.2" })];
  expect(kinds(two, [endpoint("e")])).toEqual(["unclear", "unclear"]);
  expect(kinds(two, [endpoint("e"), endpoint("f")])).toEqual(["unclear", "unclear"]);
  expect(kinds(two, [])).toEqual(["not-made", "not-made"]);
});

it("decide gives each endpoint to one registration at most, and each registration one outcome", () => {
  const urls = fc.constantFrom("https://a.example.com/x", "https://a.example.com/y");
  const types = fc.constantFrom("production" as const, "development" as const);
  void fc.assert(
    fc.property(
      fc.array(fc.record({ url: urls, type: types }), { maxLength: 8 }),
      fc.array(fc.record({ url: urls, type: types, createdAt: fc.integer({ min: -2, max: 2 }).map(at) }), {
        maxLength: 8,
      }),
      (registrations, endpoints) => {
        const decided = outcomes(
          registrations.map((each, index) => registration(index, each)),
          endpoints.map((each, index) => endpoint(`e${index}`, each)),
        );
        const made = decided.flatMap((outcome) => (outcome.kind === "made" ? [outcome] : []));
        expect(decided.map((outcome) => outcome.registration.index).sort()).toEqual([
          ...registrations.keys(),
        ]);
        expect(new Set(made.map((outcome) => outcome.endpoint.id)).size).toBe(made.length);
        for (const { registration: declared, endpoint: found } of made) {
          expect(found).toMatchObject({ url: declared.url, type: declared.type });
          expect(Date.parse(found.createdAt ?? "")).toBeGreaterThanOrEqual(run.from);
        }
      },
    ),
  );
});
