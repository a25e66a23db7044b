import * as fc from "fast-check";
import type { Endpoint, EndpointList } from "../../src/client";
import { type Decision, decide, type Evidence, type Question } from "../../src/provider/decide";
import { refusalOf } from "../../src/provider/refusals";
import { fuzzSeed } from "../seed";

const NOW = Date.UTC(2026, 0, 1, 12);
const PATIENCE = 20_000;
const wanted = { url: "https://hooks.example.com/a", type: "production" } as const;

/** An endpoint that was made so many seconds before now. */
const made = (id: string, secondsAgo: number | null = 0, more: Partial<Endpoint> = {}): Endpoint => {
  const createdAt = secondsAgo === null ? null : new Date(NOW - secondsAgo * 1000).toISOString();
  return { id, ...wanted, createdAt, updatedAt: createdAt, ...more };
};
const listOf = (endpoints: readonly Endpoint[], more: Partial<EndpointList> = {}): EndpointList => ({
  ...{ endpoints, unrecognized: [], complete: true, serverTime: NOW },
  ...more,
});
/** A registration that was sent so many seconds before now. */
const sent = (secondsAgo: number | null, more: Partial<Evidence> = {}): Evidence => ({
  ...{ id: `sent ${secondsAgo}`, ip: null, before: [] },
  sentAt: secondsAgo === null ? undefined : NOW - secondsAgo * 1000,
  ...more,
});
const ask = (
  endpoints: readonly Endpoint[],
  evidence: readonly Evidence[] = [],
  { list = {}, ...more }: Partial<Omit<Question, "list">> & { list?: Partial<EndpointList> } = {},
) =>
  decide({
    wanted,
    evidence,
    list: listOf(endpoints, list),
    isHeld: () => false,
    patienceMs: PATIENCE,
    ...more,
  });

/** Says what was decided, with the ids. */
function said(decision: Decision): string {
  if (decision.kind === "take") return `take ${decision.endpoint.id}`;
  if (decision.kind === "wait") return `wait ${decision.milliseconds / 1000}`;
  if (decision.kind === "doubt" || decision.kind === "exists")
    return `${decision.kind} ${decision.endpoints.map(({ id }) => id)}`;
  return decision.kind === "register" && decision.isListPartial ? "register, partial" : decision.kind;
}

const partial = { list: { complete: false } };
const held = (...ids: string[]) => ({ isHeld: ({ id }: { id: string }) => ids.includes(id) });
const other = { url: "https://hooks.example.com/b" };
const odd = (id: string, url: string | null) => ({ list: { unrecognized: [{ id, url }] } });

// The rule, row by row in its order.
test.each<[string, Decision, string]>([
  // Evidence, and more fits than evidence, or what nobody can date.
  ["two fits and one registration", ask([made("a", 5), made("b", 3)], [sent(8)]), "doubt a,b"],
  [
    "three fits and two registrations",
    ask([made("a", 5), made("b", 3), made("c")], [sent(8), sent(7)]),
    "doubt a,b,c",
  ],
  [
    "two fits of one URN that was killed twice",
    ask([made("a", 90), made("b", 5)], [sent(95, { id: "urn" }), sent(8, { id: "urn" })]),
    "doubt a,b",
  ],
  ["a registration that nothing dates", ask([made("a", 500)], [sent(null)]), "doubt a"],
  [
    "a time that is told without a zone",
    ask([made("a", 0, { createdAt: "2026-01-01T12:00:00" })], [sent(1)]),
    "doubt a",
  ],
  ["no time", ask([made("a", null)], [sent(1)]), "doubt a"],
  ["a registration with another ip", ask([made("a", 1)], [sent(2, { ip: "192.0.2.1" })]), "doubt a"],
  [
    "a registration whose ip is encrypted",
    ask([made("a", 1)], [sent(2, { ip: undefined as never })]),
    "doubt a",
  ],
  // Evidence, and fits.
  ["a fit", ask([made("a", 5)], [sent(8)]), "take a"],
  ["two fits of two registrations", ask([made("b", 3), made("a", 5)], [sent(8), sent(7)]), "take a"],
  [
    "a fit in another spelling",
    ask([made("a", 5, { url: "HTTPS://HOOKS.example.com:443/a" })], [sent(8)]),
    "take a",
  ],
  ["a fit, though the list is partial", ask([made("a", 5)], [sent(8)], partial), "take a"],
  [
    "a fit beside what was listed before",
    ask([made("old", 5), made("a", 5)], [sent(8, { before: ["old"] })]),
    "take a",
  ],
  ["a fit beside what a resource has", ask([made("a", 5), made("own", 5)], [sent(8)], held("own")), "take a"],
  ["a fit beside an older one", ask([made("old", 100), made("a", 5)], [sent(8)]), "take a"],
  ["a fit, at the beginning of the window", ask([made("a", 13)], [sent(8)]), "take a"],
  ["a fit, at the end of the window", ask([made("a", 80)], [sent(100)]), "take a"],
  [
    "a fit of the first of two kills",
    ask([made("a", 90)], [sent(95, { id: "urn" }), sent(8, { id: "urn" })]),
    "take a",
  ],
  // Evidence, no fit, a partial list.
  ["no fit, in a partial list", ask([], [sent(100)], partial), "unknowable"],
  [
    "an endpoint that cannot be read, with this url",
    ask([], [sent(100)], odd("x", wanted.url)),
    "unknowable",
  ],
  ["an endpoint that cannot be read, with any url", ask([], [sent(100)], odd("x", null)), "unknowable"],
  [
    "an endpoint that cannot be read, and was there before",
    ask([], [sent(100, { before: ["x"] })], odd("x", null)),
    "register, partial",
  ],
  [
    "an endpoint that cannot be read, with another url",
    ask([], [sent(100)], odd("x", other.url)),
    "register",
  ],
  // Evidence, no fit, the window not over.
  ["no fit, and the window not over", ask([], [sent(8)]), "wait 12"],
  ["no fit, an older one, and the window not over", ask([made("old", 100)], [sent(8)]), "wait 12"],
  ["no fit of the later of two", ask([], [sent(15), sent(8)]), "wait 12"],
  ["no fit, and the clock was set back", ask([], [sent(-3_600)]), "wait 20"],
  ["no fit, the clock was set back, and a wait", ask([], [sent(-3_600)], { waitedMs: 19_000 }), "wait 1"],
  ["no fit, and no time of the service", ask([], [sent(8)], { list: { serverTime: null } }), "wait 20"],
  ["no fit, and nothing that dates it", ask([], [sent(null)], { waitedMs: 5_000 }), "wait 15"],
  // Otherwise an equal endpoint.
  ["an equal endpoint", ask([made("a", 5)]), "exists a"],
  ["an equal endpoint that nobody dates", ask([made("a", null)]), "exists a"],
  ["an equal endpoint before the window, which is over", ask([made("a", 200)], [sent(100)]), "exists a"],
  ["an equal endpoint after the window", ask([made("a", 79)], [sent(100)]), "exists a"],
  [
    "an equal endpoint that was listed before",
    ask([made("a", 99)], [sent(100, { before: ["a"] })]),
    "exists a",
  ],
  ["an equal endpoint in a partial list", ask([made("a", 5)], [], partial), "exists a"],
  ["one that cannot be read, with this url", ask([], [], odd("x", wanted.url)), "exists x"],
  // Otherwise.
  ["a partial list", ask([], [], partial), "register, partial"],
  ["nothing", ask([]), "register"],
  ["another url", ask([made("a", 5, other)]), "register"],
  ["another type", ask([made("a", 5, { type: "development" })]), "register"],
  ["what a resource has", ask([made("a", 5)], [], held("a")), "register"],
  ["no fit, and the window over", ask([], [sent(21)]), "register"],
])("with %s, the rule says what its row says", (_, decision, expected) => {
  expect(said(decision)).toBe(expected);
});

describe("whatever is listed, held and sent", () => {
  const endpoint = fc
    .record({
      id: fc.constantFrom("a", "b", "c", "d"),
      seconds: fc.option(fc.integer({ min: -5, max: 60 })),
      url: fc.constantFrom(wanted.url, wanted.url, wanted.url, other.url),
      type: fc.constantFrom(wanted.type, wanted.type, "development" as const),
    })
    .map(({ id, seconds, ...rest }) => made(id, seconds, rest));
  const evidence = fc
    .record({
      seconds: fc.option(fc.integer({ min: -5, max: 60 }), { freq: 8 }),
      before: fc.subarray(["a", "b", "c", "d"]),
      ip: fc.constantFrom(null, null, null, "192.0.2.1"),
    })
    .map(({ seconds, ...rest }) => sent(seconds, rest));
  const question = fc
    .record({
      endpoints: fc.uniqueArray(endpoint, { selector: ({ id }) => id }),
      evidence: fc.array(evidence, { maxLength: 3 }),
      heldIds: fc.subarray(["a", "b", "c", "d"]),
      complete: fc.boolean(),
      waitedMs: fc.nat(PATIENCE),
    })
    .map(({ endpoints, evidence, heldIds, complete, waitedMs }) => ({
      heldIds,
      question: {
        ...{ wanted, evidence, patienceMs: PATIENCE, waitedMs, list: listOf(endpoints, { complete }) },
        ...held(...heldIds),
      },
    }));
  const isInWindow = ({ createdAt }: Endpoint, { sentAt }: Evidence) => {
    const at = Date.parse(createdAt ?? "");
    if (Number.isNaN(at) || sentAt === undefined) return true;
    return at >= sentAt - 5_000 && at <= sentAt + PATIENCE;
  };
  type Property = (given: { question: Question; heldIds: string[] }, decision: Decision) => void;
  const holds = (property: Property): void => {
    const decided = fc.property(question, (given) => property(given, decide(given.question)));
    void fc.assert(decided, { seed: fuzzSeed(), numRuns: 500 });
  };

  test("the rule never takes what a resource has, what was listed before, what is out of the window, or another endpoint", () => {
    holds(({ heldIds }, decision) => {
      if (decision.kind !== "take") return;
      const { endpoint, by } = decision;
      expect(endpoint).toMatchObject(wanted);
      expect([...heldIds, ...by.before]).not.toContain(endpoint.id);
      expect(isInWindow(endpoint, by)).toBe(true);
    });
  });

  test("the rule takes nothing when there is more than one explanation of what it is", () => {
    holds(({ question: { evidence, list }, heldIds }, decision) => {
      if (decision.kind !== "take") return;
      const equal = list.endpoints.filter(
        ({ id, url, type }) => url === wanted.url && type === wanted.type && !heldIds.includes(id),
      );
      const fits = equal.filter(({ id, ...rest }) =>
        evidence.some((each) => !each.before.includes(id) && isInWindow({ id, ...rest }, each)),
      );
      expect(fits.length).toBeLessThanOrEqual(new Set(evidence.map(({ id }) => id)).size);
    });
  });

  test("the rule registers nothing while an equal endpoint is nobody's, or a registration may still be made", () => {
    holds(({ question, heldIds }, decision) => {
      if (decision.kind !== "register") return;
      const { evidence, list, waitedMs = 0 } = question;
      const equal = list.endpoints.filter(({ url, type }) => url === wanted.url && type === wanted.type);
      expect(equal.filter(({ id }) => !heldIds.includes(id))).toEqual([]);
      if (evidence.length > 0) expect(list.complete).toBe(true);
      for (const { sentAt } of evidence)
        expect(waitedMs >= PATIENCE || (sentAt !== undefined && sentAt + PATIENCE <= NOW)).toBe(true);
    });
  });

  test('with ifExists "register" no decision is a refusal, and with "fail" exactly the three stops are', () => {
    holds((_, decision) => {
      expect(refusalOf(decision, { ...wanted, ifExists: "register" })).toBeUndefined();
      const codes = {
        doubt: "REGISTRATION_IN_DOUBT",
        exists: "ENDPOINT_EXISTS",
        unknowable: "STILL_PENDING",
      };
      const code = refusalOf(decision, wanted)?.code;
      expect(code).toBe(Reflect.get(codes, decision.kind));
    });
  });
});

test("a stop names the ids, the times and each way on, one a line", () => {
  const many = Array.from({ length: 7 }, (_, at) => made(`wh_${at}`, at));
  const { message = "" } = refusalOf({ kind: "exists", endpoints: many }, wanted) ?? {};
  expect(message).toMatch(/already has 7 endpoints for https:\/\/hooks\.example\.com\/… \(production\)/);
  expect(message).toContain("wh_0 (created 2026-01-01T12:00:00.000Z)");
  expect(message).toContain("and 2 more");
  const ways = message.split("\n").slice(1);
  expect(ways).toEqual([
    expect.stringMatching(/^- .*set adoptId: "wh_0"/),
    expect.stringMatching(/^- .*`pulumi state move`/),
    expect.stringMatching(/^- .*delete it with `npx pulumi-webhook-endpoints delete .*wh_0/),
    expect.stringMatching(/^- .*ifExists: "register"/),
  ]);
  const own = refusalOf({ kind: "exists", endpoints: many }, wanted, {
    isReplacement: true,
    unread: "no CLI",
  });
  expect(own?.message).toMatch(/could not be read: no CLI.*rename without an alias/);
  expect(own?.message).toMatch(/a resource that has an endpoint adopts no other, so give it another name/);
});
