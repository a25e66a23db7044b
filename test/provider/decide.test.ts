import type { Endpoint, EndpointList } from "../../src/client";
import { type Decision, decide, type Evidence, type Question } from "../../src/provider/decide";
import { refusalOf } from "../../src/provider/refusals";

const NOW = Date.UTC(2026, 0, 1, 12);
const wanted = { url: "https://hooks.example.com/a", type: "production" } as const;

/** An endpoint that was made so many seconds before now. */
const made = (id: string, secondsAgo: number | null = 0, more: Partial<Endpoint> = {}): Endpoint => {
  const createdAt = secondsAgo === null ? null : new Date(NOW - secondsAgo * 1000).toISOString();
  return { id, ...wanted, createdAt, updatedAt: createdAt, ...more };
};
/** A registration that was sent so many seconds before now. */
const sent = (secondsAgo: number | null, more: Partial<Evidence> = {}): Evidence => ({
  ...{ id: `sent ${secondsAgo}`, ip: null, before: [] },
  serviceSentAt: secondsAgo === null ? undefined : NOW - secondsAgo * 1000,
  ...more,
});
/** The first of two kills of one resource, and the second. */
const twice = [sent(95, { id: "urn" }), sent(8, { id: "urn" })];
const b = { url: "https://hooks.example.com/b" };
const spelled = { url: "HTTPS://HOOKS.example.com:443/a" };
const otherIp = sent(2, { ip: "192.0.2.1" });
const encryptedIp = sent(2, { ip: undefined as never });

type More = Partial<Omit<Question, "list">> & { readonly list?: Partial<EndpointList> };
const partial: More = { list: { complete: false } };
const has = (held: string): More => ({ isOwned: ({ id }) => id === held });
const adopting: More = { wanted: { ...wanted, ifExists: "adopt" } };
const odd = (url: string | null): More => ({ list: { unrecognized: [{ id: "x", url }] } });

const CODES: Partial<Record<Decision["kind"], string>> = {
  ...{ doubt: "REGISTRATION_IN_DOUBT", exists: "ENDPOINT_EXISTS", unknowable: "STILL_PENDING" },
};

/** Says what was decided, with the ids. */
function said(decision: Decision): string {
  if (decision.kind === "take" || decision.kind === "adopt")
    return `${decision.kind} ${decision.endpoint.id}`;
  if (decision.kind === "wait") return `wait ${decision.milliseconds / 1000}`;
  if (decision.kind === "doubt" || decision.kind === "exists")
    return `${decision.kind} ${decision.endpoints.map(({ id }) => id)}`;
  return decision.kind === "register" && decision.isListPartial ? "register, partial" : decision.kind;
}

// The rule, row by row in its order: what is listed, and which registrations got no response.
test.each<[string, string, Endpoint[], Evidence[]?, More?]>([
  // Evidence, and more fits than evidence, or what nobody can date.
  ["two fits and one registration", "doubt a,b", [made("a", 5), made("b", 3)], [sent(8)]],
  ["three fits and two", "doubt a,b,c", [made("a", 5), made("b", 3), made("c")], [sent(8), sent(7)]],
  ["two fits of one URN that was killed twice", "doubt a,b", [made("a", 90), made("b", 5)], twice],
  ["a registration that nothing dates", "doubt a", [made("a", 500)], [sent(null)]],
  ["a time without a zone", "doubt a", [made("a", 0, { createdAt: "2026-01-01T12:00:00" })], [sent(1)]],
  ["no time", "doubt a", [made("a", null)], [sent(1)]],
  ["a registration with another ip", "doubt a", [made("a", 1)], [otherIp]],
  ["a registration whose ip is encrypted", "doubt a", [made("a", 1)], [encryptedIp]],
  // Evidence, and fits.
  ["a fit", "take a", [made("a", 5)], [sent(8)]],
  ["two fits of two registrations", "take a", [made("b", 3), made("a", 5)], [sent(8), sent(7)]],
  ["a fit in another spelling", "take a", [made("a", 5, spelled)], [sent(8)]],
  ["a fit in a partial list", "take a", [made("a", 5)], [sent(8)], partial],
  ["a fit and one from before", "take a", [made("o", 5), made("a", 5)], [sent(8, { before: ["o"] })]],
  ["a fit and what a resource has", "take a", [made("a", 5), made("own", 5)], [sent(8)], has("own")],
  ["a fit and an older one", "take a", [made("old", 100), made("a", 5)], [sent(8)]],
  ["a fit at the beginning of the window", "take a", [made("a", 13)], [sent(8)]],
  ["a fit at the end of the window", "take a", [made("a", 80)], [sent(100)]],
  ["a fit of the first of two kills", "take a", [made("a", 90)], twice],
  // Evidence, no fit, a partial list.
  ["no fit in a partial list", "unknowable", [], [sent(100)], partial],
  ["an unreadable one with this url", "unknowable", [], [sent(100)], odd(wanted.url)],
  ["an unreadable one with any url", "unknowable", [], [sent(100)], odd(null)],
  ["an unreadable one from before", "register, partial", [], [sent(100, { before: ["x"] })], odd(null)],
  [
    "one from before of the first only",
    "unknowable",
    [],
    [sent(100, { before: ["x"] }), sent(99)],
    odd(null),
  ],
  ["an unreadable one with another url", "register", [], [sent(100)], odd(b.url)],
  // Evidence, no fit, the window not over.
  ["no fit, and the window not over", "wait 12", [], [sent(8)]],
  ["no fit, an older one, and the window not over", "wait 12", [made("old", 100)], [sent(8)]],
  ["no fit of the later of two", "wait 12", [], [sent(15), sent(8)]],
  ["no fit, and the clock was set back", "wait 20", [], [sent(-3_600)]],
  ["no fit, the clock was set back, and a wait", "wait 1", [], [sent(-3_600)], { waitedMs: 19_000 }],
  ["no fit, and no time of the service", "wait 20", [], [sent(8)], { list: { serverTime: null } }],
  ["no fit, and nothing that dates it", "wait 15", [], [sent(null)], { waitedMs: 5_000 }],
  // Otherwise an equal endpoint.
  ["an equal endpoint", "exists a", [made("a", 5)]],
  ["an equal endpoint that nobody dates", "exists a", [made("a", null)]],
  ["an equal endpoint before the window, which is over", "exists a", [made("a", 200)], [sent(100)]],
  ["an equal endpoint after the window", "exists a", [made("a", 79)], [sent(100)]],
  ["an equal endpoint from before", "exists a", [made("a", 99)], [sent(100, { before: ["a"] })]],
  ["an equal endpoint in a partial list", "exists a", [made("a", 5)], [], partial],
  ["an unreadable one with this url, and no evidence", "exists x", [], [], odd(wanted.url)],
  // With "adopt", the only equal endpoint instead of a stop.
  ["an equal endpoint to adopt", "adopt a", [made("a", 500)], [], adopting],
  ["an equal endpoint to adopt that nobody dates", "adopt a", [made("a", null)], [], adopting],
  ["a registration in doubt and its fit to adopt", "adopt a", [made("a", 500)], [sent(null)], adopting],
  ["a registration with another ip to adopt", "adopt a", [made("a", 1)], [otherIp], adopting],
  ["a fit, though the other may be adopted", "take a", [made("o", 500), made("a", 5)], [sent(8)], adopting],
  ["an older one to adopt, and a window not over", "wait 12", [made("o", 500)], [sent(8)], adopting],
  ["two to adopt", "exists a,b", [made("a", 500), made("b", 400)], [], adopting],
  ["two in doubt to adopt", "doubt a,b", [made("a", 5), made("b", 3)], [sent(8)], adopting],
  ["one in doubt and an older one", "doubt a", [made("o", 99), made("a", 5)], [otherIp], adopting],
  ["one to adopt in a partial list", "exists a", [made("a", 5)], [], { ...adopting, ...partial }],
  ["one to adopt beside an unreadable one", "exists a", [made("a", 5)], [], { ...adopting, ...odd(null) }],
  ["what a resource has, to adopt", "register", [made("a", 5)], [], { ...adopting, ...has("a") }],
  ["none to adopt", "register", [made("a", 5, b)], [], adopting],
  // Otherwise.
  ["a partial list", "register, partial", [], [], partial],
  ["nothing", "register", []],
  ["another url", "register", [made("a", 5, b)]],
  ["another type", "register", [made("a", 5, { type: "development" })]],
  ["what a resource has", "register", [made("a", 5)], [], has("a")],
  ["no fit, and the window over", "register", [], [sent(21)]],
])("with %s, the rule says %s", (_, expected, endpoints, evidence = [], { list, ...more } = {}) => {
  const whole = { endpoints, unrecognized: [], complete: true, serverTime: NOW, ...list };
  const question = { wanted, evidence, list: whole, isOwned: () => false, graceMs: 20_000, ...more };
  const decision = decide(question);
  expect(said(decision)).toBe(expected);
  expect(refusalOf(decision, wanted)?.code).toBe(CODES[decision.kind]);
  expect(refusalOf(decision, { ...wanted, ifExists: "register" })).toBeUndefined();
});

test("a stop names the ids, the times and each way on, one a line", () => {
  const many = Array.from({ length: 7 }, (_, at) => made(`wh_${at}`, at));
  const exists = { kind: "exists", endpoints: many, left: 9 } as const;
  const { message = "" } = refusalOf(exists, wanted) ?? {};
  expect(message).toMatch(/already has 7 endpoints for https:\/\/hooks\.example\.com\/… \(production\)/);
  expect(message).toContain("wh_0 (created 2026-01-01T12:00:00.000Z)");
  expect(message).toContain("and 2 more");
  expect(message).toContain("this stack has no resource for 9 endpoints of the account");
  expect(message.split("\n").slice(1)).toEqual([
    expect.stringMatching(/^- .*one of them is .*set adoptId to its id.*already also needs another name/),
    expect.stringMatching(/^- .*everything.*WEBHOOKS_IF_EXISTS=adopt pulumi up/),
    expect.stringMatching(/^- .*`pulumi state move`/),
    expect.stringMatching(/^- .*delete it with `npx pulumi-webhook-endpoints delete .*wh_0/),
    expect.stringMatching(/^- .*ifExists: "register"/),
  ]);
  const { message: unread } = refusalOf(exists, wanted, "No CLI.") ?? {};
  expect(unread).toMatch(/\(No CLI\. So .*rename without an alias/);
});
