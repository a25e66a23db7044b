import type { Endpoint, EndpointList } from "../../src/client";
import { Declarations } from "../../src/provider/facts/declarations";
import type { Owner } from "../../src/provider/facts/owner";
import type { Evidence } from "../../src/provider/facts/registrationEvidence";
import { type Decision, decide, isStop, type Wish } from "../../src/provider/registration/decide";
import type { Known } from "../../src/provider/registration/matchEvidence";
import { refusalOf } from "../../src/provider/registration/refusals";

const NOW = Date.UTC(2026, 0, 1, 12);
const wanted = { url: "https://hooks.example.com/a", type: "production" } as const;

/** An endpoint that was made so many seconds before now. */
const made = (id: string, secondsAgo: number | null = 0, more: Partial<Endpoint> = {}): Endpoint => {
  const createdAt = secondsAgo === null ? null : new Date(NOW - secondsAgo * 1000).toISOString();
  return { id, ...wanted, createdAt, updatedAt: createdAt, ...more };
};
/** A registration that was sent so many seconds before now. */
const sent = (
  secondsAgo: number | null,
  {
    before = [],
    ...more
  }: Partial<Omit<Evidence, "idsBefore">> & { readonly before?: readonly string[] } = {},
): Evidence => ({
  ...{ id: `sent ${secondsAgo}`, ip: null, idsBefore: new Set(before) },
  earliestSentAt: secondsAgo === null ? undefined : NOW - secondsAgo * 1000,
  ...more,
});
/** The first of two kills of one resource, and the second. */
/** The first two are of the time of one registration, and the last of that of two. */
const crowded = [made("a", 75), made("b", 74), made("c", 5)];
const twice = [sent(95, { id: "urn" }), sent(8, { id: "urn" })];
const b = { url: "https://hooks.example.com/b" };
const spelled = { url: "HTTPS://HOOKS.example.com:443/a" };
const otherIp = sent(2, { ip: "192.0.2.1" });
const encryptedIp = sent(2, { ip: undefined as never });

/** What differs from a create of an endpoint that no resource has, with a whole list of this moment, and no wait before. */
interface More {
  readonly list?: Partial<EndpointList>;
  readonly waitedMs?: number;
  readonly wish?: Partial<Record<keyof Extract<Wish, { verb: "create" }>, unknown>>;
  readonly named?: Endpoint;
  /** By id. */
  readonly owners?: Readonly<Record<string, Owner>>;
  /** The urls that other resources of the stack declare. */
  readonly declared?: readonly string[];
  readonly isSpent?: boolean;
  /** That the state may be another stack's, and what counts then. */
  readonly unproven?: Known;
  readonly isStale?: true;
}
const partial: More = { list: { complete: false } };
const own: Owner = { kind: "own" };
const hook = {
  urn: "urn:pulumi:dev::test::pulumi-nodejs:dynamic:Resource::hook",
  type: "pulumi-nodejs:dynamic:Resource",
};
const has = (id: string, owner: Owner = own): More => ({ owners: { [id]: owner } });
const others = has("a", { kind: "otherType", resource: hook });
const perhaps = has("a", { kind: "perhapsOtherType", resource: hook });
/** Where nothing is known. */
const nothing: Known = {
  evidence: [],
  ownerOf: () => ({ kind: "nobody" }),
  declares: () => false,
  isSpent: false,
};
const adopting: More = { wish: { ifExists: "adopt" } };
const registering: More = { wish: { ifExists: "register" } };
const settling: More = { wish: { verb: "settle" } };
const odd = (url: string | null): More => ({ list: { unrecognized: [{ id: "x", url }] } });
/** As many as would take minutes if each were compared with each. */
const manyIds = Array.from({ length: 500_000 }, (_, at) => `odd ${at}`);
const manyOdd = { unrecognized: manyIds.map((id) => ({ id, url: null })) };
/** A second list, when the first can no longer lag behind. */
const later: More = { waitedMs: 5_000 };
const stale: More = { ...later, isStale: true };
const naming = (named?: Endpoint, more: Partial<More> = {}): More => ({
  ...more,
  ...(named && { named }),
  wish: { adoptId: "a", ...more.wish },
});
const near = { url: "https://HOOKS.example.com/A//" };

const CODES: Partial<Record<Decision["kind"], string>> = {
  ...{ doubt: "REGISTRATION_IN_DOUBT", exists: "ENDPOINT_EXISTS", unknowable: "STILL_PENDING" },
  ...{ missing: "NOT_FOUND", mismatch: "ADOPT_MISMATCH", taken: "ADOPT_TAKEN" },
};

/** Says what was decided, with the ids. */
function said(decision: Decision): string {
  if (decision.kind === "take" || decision.kind === "adopt")
    return `${decision.kind} ${decision.endpoint.id}`;
  if (decision.kind === "wait") return `wait ${decision.milliseconds / 1000}`;
  if (decision.kind === "doubt" || decision.kind === "exists")
    return `${decision.kind} ${decision.endpoints.map(({ id }) => id)}`;
  if (decision.kind !== "register") return decision.kind;
  const despite = decision.despite && ` despite ${decision.despite.kind}`;
  return `register${despite ?? (decision.mayLackEqual ? ", partial" : "")}`;
}

// The rule, row by row in the order of the table of docs/architecture.md: what is listed, and which registrations got no response.
test.each<[string, string, Endpoint[], Evidence[]?, More?]>([
  // What adoptId names, before anything else.
  ["a named endpoint", "adopt a", [], [], naming(made("a", 500))],
  [
    "a named endpoint, beside evidence and its fit",
    "adopt a",
    [made("b", 5)],
    [sent(8)],
    naming(made("a", 500)),
  ],
  ["a named endpoint in nearly this spelling", "adopt a", [], [], naming(made("a", 500, near))],
  [
    "a named endpoint whose resource is leaving",
    "adopt a",
    [],
    [],
    naming(made("a"), has("a", { kind: "leaving" })),
  ],
  ["a named endpoint that there is not", "missing", [], [], naming()],
  ["a named endpoint with another url", "mismatch", [], [], naming(made("a", 5, b))],
  ["a named endpoint with another type", "mismatch", [], [], naming(made("a", 5, { type: "development" }))],
  ["a named endpoint that a resource has", "taken", [], [], naming(made("a"), has("a"))],
  ["a named endpoint of a resource of another type", "taken", [], [], naming(made("a"), others)],
  ["a named endpoint that one may have", "taken", [], [], naming(made("a"), perhaps)],
  [
    "a named endpoint that a resource has in a state that is not proven",
    "taken",
    [],
    [],
    naming(made("a"), { ...has("a"), unproven: nothing }),
  ],
  ["a spent adoptId", "register", [], [], naming(made("a"), { isSpent: true })],
  [
    "a spent adoptId, and evidence that fits",
    "take b",
    [made("b", 5)],
    [sent(8)],
    naming(made("a"), { isSpent: true }),
  ],
  // Evidence in doubt: with "adopt", the only equal endpoint.
  ["a registration in doubt and its fit to adopt", "adopt a", [made("a", 500)], [sent(null)], adopting],
  ["a registration with another ip to adopt", "adopt a", [made("a", 1)], [otherIp], adopting],
  ["two in doubt to adopt", "doubt a,b", [made("a", 5), made("b", 3)], [sent(8)], adopting],
  ["one in doubt and an older one", "doubt a", [made("o", 99), made("a", 5)], [otherIp], adopting],
  // Evidence in doubt otherwise: more fits than evidence, or what nobody can date.
  ["two fits and one registration", "doubt a,b", [made("a", 5), made("b", 3)], [sent(8)]],
  ["three fits and two", "doubt a,b,c", [made("a", 5), made("b", 3), made("c")], [sent(8), sent(7)]],
  [
    "two fits of one registration and one of two others",
    "doubt a,b,c",
    crowded,
    [sent(80), sent(8), sent(7)],
  ],
  ["two fits of one URN that was killed twice", "doubt a,b", [made("a", 90), made("b", 5)], twice],
  ["a registration that nothing dates", "doubt a", [made("a", 500)], [sent(null)]],
  ["a time without a zone", "doubt a", [made("a", 0, { createdAt: "2026-01-01T12:00:00" })], [sent(1)]],
  ["no time", "doubt a", [made("a", null)], [sent(1)]],
  ["a registration with another ip", "doubt a", [made("a", 1)], [otherIp]],
  ["a registration whose ip is encrypted", "doubt a", [made("a", 1)], [encryptedIp]],
  ["nearly the url", "doubt a", [made("a", 5, near)], [sent(8)]],
  [
    "nearly the url, and a masked query",
    "doubt a",
    [made("a", 5, { url: `${wanted.url}?token=****` })],
    [sent(8)],
    { wish: { wanted: { ...wanted, url: `${wanted.url}?token=t0ken` } } },
  ],
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
  ["a fit that a dynamic resource may have", "doubt a", [made("a", 5)], [sent(8)], perhaps],
  ["a fit for a read", "take a", [made("a", 5)], [sent(8)], settling],
  ["a fit, and nearly the url", "take a", [made("n", 5, near), made("a", 5)], [sent(8)]],
  // Evidence, no fit, a partial list.
  ["no fit in a partial list", "unknowable", [], [sent(100)], partial],
  ["an unreadable one with this url", "unknowable", [], [sent(100)], odd(wanted.url)],
  ["an unreadable one with any url", "unknowable", [], [sent(100)], odd(null)],
  [
    "an unreadable one from before",
    "register, partial",
    [],
    [sent(100, { before: ["x"] })],
    { ...odd(null), ...later },
  ],
  [
    "one from before of the first only",
    "unknowable",
    [],
    [sent(100, { before: ["x"] }), sent(99)],
    odd(null),
  ],
  ["an unreadable one with another url", "register", [], [sent(100)], { ...odd(b.url), ...later }],
  // Evidence, no fit, the window not over.
  ["no fit, and the window not over", "wait 12", [], [sent(8)]],
  ["no fit, an older one, and the window not over", "wait 12", [made("old", 100)], [sent(8)]],
  ["no fit of the later of two", "wait 12", [], [sent(15), sent(8)]],
  ["no fit, and the clock was set back", "wait 20", [], [sent(-3_600)]],
  ["no fit, the clock was set back, and a wait", "wait 1", [], [sent(-3_600)], { waitedMs: 19_000 }],
  ["no fit, and no time of the service", "wait 20", [], [sent(8)], { list: { serverTime: null } }],
  ["no fit, and nothing that dates it", "wait 15", [], [sent(null)], { waitedMs: 5_000 }],
  ["no fit, the window over, and one list", "wait 5", [], [sent(100)]],
  ["no fit, the window over, and a list of 2 s later", "wait 3", [], [sent(100)], { waitedMs: 2_000 }],
  ["what another type has, the window over, and one list", "wait 5", [made("a", 5)], [sent(100)], others],
  ["no fit for a read, the window over, and one list", "wait 5", [], [sent(100)], settling],
  // A pending resource that is read or deleted, which made nothing.
  [
    "no fit for a read, and an equal endpoint",
    "none",
    [made("a", 200)],
    [sent(100)],
    { ...settling, ...later },
  ],
  // With "adopt", the only equal endpoint instead of a stop.
  ["an equal endpoint to adopt", "adopt a", [made("a", 500)], [], adopting],
  ["an equal endpoint to adopt that nobody dates", "adopt a", [made("a", null)], [], adopting],
  ["a fit, though the other may be adopted", "take a", [made("o", 500), made("a", 5)], [sent(8)], adopting],
  ["an older one to adopt, and a window not over", "wait 12", [made("o", 500)], [sent(8)], adopting],
  ["two to adopt", "exists a,b", [made("a", 500), made("b", 400)], [], adopting],
  ["one to adopt in a partial list", "exists a", [made("a", 5)], [], { ...adopting, ...partial }],
  ["one to adopt beside an unreadable one", "exists a", [made("a", 5)], [], { ...adopting, ...odd(null) }],
  ["what a resource has, to adopt", "register", [made("a", 5)], [], { ...adopting, ...has("a") }],
  ["what another type of resource has, to adopt", "exists a", [made("a", 5)], [], { ...adopting, ...others }],
  ["what one may have, to adopt", "exists a", [made("a", 5)], [], { ...adopting, ...perhaps }],
  [
    "one to adopt that a resource has in a state that is not proven",
    "exists a",
    [made("a", 5)],
    [],
    { ...adopting, ...has("a"), unproven: nothing },
  ],
  ["one to adopt, and no proof", "adopt a", [made("a", 5)], [], { ...adopting, unproven: nothing }],
  ["one to adopt in a stale list", "adopt a", [made("a", 5)], [], { ...adopting, ...stale }],
  ["none to adopt", "register", [made("a", 5, b)], [], adopting],
  // Otherwise an equal endpoint.
  ["an equal endpoint", "exists a", [made("a", 5)]],
  ["an equal endpoint that nobody dates", "exists a", [made("a", null)]],
  ["an equal endpoint before the window, which is over", "exists a", [made("a", 200)], [sent(100)], later],
  ["an equal endpoint after the window", "exists a", [made("a", 79)], [sent(100)], later],
  ["an equal endpoint from before", "exists a", [made("a", 99)], [sent(100, { before: ["a"] })], later],
  ["an equal endpoint of another type of resource", "exists a", [made("a", 5)], [], others],
  ["an equal endpoint that one may have", "exists a", [made("a", 5)], [], perhaps],
  ["an equal endpoint in a partial list", "exists a", [made("a", 5)], [], partial],
  ["an unreadable one with this url, and no evidence", "exists x", [], [], odd(wanted.url)],
  ["an equal endpoint in a stale list", "exists a", [made("a", 5)], [], stale],
  // Otherwise a list that is known to lack something.
  ["a stale list", "unknowable", [], [], stale],
  ["a stale list, asked what a registration made", "unknowable", [], [sent(100)], { ...stale, ...settling }],
  // Otherwise.
  ["a partial list", "register, partial", [], [], partial],
  [
    "half a million rows that cannot be read, each from before",
    "register, partial",
    [],
    [sent(100, { before: manyIds })],
    { ...later, list: manyOdd },
  ],
  ["nothing", "register", []],
  ["another url", "register", [made("a", 5, b)]],
  ["another type", "register", [made("a", 5, { type: "development" })]],
  ["what a resource has", "register", [made("a", 5)], [], has("a")],
  ["no fit, and the window over", "register", [], [sent(21)], later],
  ["what this run has deleted", "register", [made("a", 5)], [], has("a", { kind: "deleted" })],
  ["nearly the url, and no evidence", "register", [made("a", 5, near)]],
  ["nearly the url before the window", "register", [made("a", 200, near)], [sent(100)], later],
  [
    "nearly the url that another resource declares",
    "register",
    [made("a", 90, near)],
    [sent(100)],
    { ...later, declared: [near.url] },
  ],
  [
    "nearly the url that a resource has",
    "register",
    [made("a", 90, near)],
    [sent(100)],
    { ...later, ...has("a") },
  ],
  [
    "evidence in doubt, and the word to register",
    "register despite doubt",
    [made("a", 5)],
    [sent(null)],
    registering,
  ],
  ["an equal endpoint, and the word to register", "register despite exists", [made("a", 5)], [], registering],
  [
    "no fit in a partial list, and the word to register",
    "register despite unknowable",
    [],
    [sent(8)],
    { ...partial, ...registering },
  ],
  ["a fit, and the word to register", "take a", [made("a", 5)], [sent(8)], registering],
])("with %s, the rule says %s", (_, expected, endpoints, evidence = [], more = {}) => {
  const { decision } = decide(...question(endpoints, evidence, more));
  expect(said(decision)).toBe(expected);
  const code = isStop(decision) ? refusalOf(decision, wanted, { declarations }).code : undefined;
  expect(code).toBe(CODES[decision.kind]);
});

const declarations = new Declarations();

function question(
  endpoints: readonly Endpoint[],
  evidence: readonly Evidence[],
  more: More,
): Parameters<typeof decide> {
  const { list, wish, owners = {}, declared = [], isSpent = false, unproven, ...facts } = more;
  const known: Known = {
    evidence,
    ownerOf: ({ id }) => owners[id] ?? { kind: "nobody" },
    declares: (url) => declared.includes(url),
    isSpent,
  };
  const whole = { endpoints, unrecognized: [], complete: true, serverTime: NOW, ...list };
  const proof = unproven && ({ proven: false, why: "nothing shows it" } as const);
  const all = { waitedMs: 0, ...facts, known, withoutState: unproven, proof, list: whole, graceMs: 20_000 };
  return [{ wanted, verb: "create", ifExists: "fail", ...wish } as Wish, all];
}

/** The rule may take one more than the evidence that it closes with it: so the order must not matter. */
test("of two registrations that one endpoint fits, the rule takes it for the one whose window ends first", () => {
  const [first, second] = [sent(20, { id: "first" }), sent(8, { id: "second" })];
  for (const evidence of [
    [first, second],
    [second, first],
  ]) {
    const { decision } = decide(...question([made("a", 10), made("b", 3)], evidence, {}));
    expect(decision).toMatchObject({ kind: "take", endpoint: { id: "a" }, by: { id: "first" } });
  }
});

test.each<[string, boolean, Endpoint[], Partial<Known>, More?]>([
  ["what a resource of the state has", true, [made("a", 5)], { ownerOf: () => own }],
  ["evidence of the state that fits", true, [made("a", 5)], { evidence: [sent(8)] }],
  ["a spent adoptId of the state", true, [], { isSpent: true }, naming(made("a"))],
  ["nothing", false, [], {}],
  ["one to adopt, whose other stacks are asked", true, [made("a", 500)], {}, adopting],
  ["one that adoptId names", true, [], {}, naming(made("a"))],
  ["a stop", false, [made("a", 5)], {}],
  ["a wait", false, [], { evidence: [sent(8)] }],
  ["evidence of the state that made nothing", false, [], { evidence: [sent(100)] }, later],
  ["a read", false, [made("a", 5)], { evidence: [sent(8)] }, settling],
])("with %s, the decision of a create needs a proof: %s", (_, expected, endpoints, ofState, more = {}) => {
  const [wish, facts] = question(endpoints, [], more);
  const known = { ...facts.known, ...ofState };
  expect(decide(wish, { ...facts, known, withoutState: facts.known }).needsProof).toBe(expected);
});

test("a stop names the ids, the times and each way on, one a line", () => {
  const many = Array.from({ length: 7 }, (_, at) => made(`wh_${at}`, at));
  const exists = { kind: "exists", endpoints: many, left: 9, owner: undefined } as const;
  const { message = "" } = refusalOf(exists, wanted, { declarations }) ?? {};
  expect(message).toMatch(/already has 7 endpoints for https:\/\/hooks\.example\.com\/… \(production\)/);
  expect(message).toContain("wh_0 (created 2026-01-01T12:00:00.000Z)");
  expect(message).toContain("and 2 more");
  expect(message).toContain("this stack has no resource for 9 endpoints of the account");
  expect(message.split("\n").slice(1)).toEqual([
    expect.stringMatching(/^- .*another stack has it .*`pulumi state move --source .*`/),
    expect.stringMatching(/^- .*one of them is .*set adoptId to its id.*already also needs another name/),
    expect.stringMatching(/^- .*everything.*WEBHOOKS_IF_EXISTS=adopt pulumi up/),
    expect.stringMatching(/^- .*delete it with `npx pulumi-webhook-endpoints delete .*wh_0/),
    expect.stringMatching(/^- .*ifExists: "register"/),
  ]);
  const { message: unread } =
    refusalOf(exists, wanted, { declarations }, { whyWithoutState: "No CLI." }) ?? {};
  expect(unread).toMatch(/\(No CLI\. So .*rename without an alias/);
});

test.each([
  ["create", undefined, [/set adoptId: "a"\. /, /set ifExists: "register" for one run\. /]],
  [
    "read",
    "read",
    [/set adoptId: "a", and run `pulumi up`\. /, /set ifExists: "register" for one `pulumi up`\. /],
  ],
] as const)(
  "a doubt of a %s names ways that this command can go",
  (_, settledFor, [adopting, registering]) => {
    const doubt = { kind: "doubt", endpoints: [made("a")], why: "nothing shows it" } as const;
    const { message } = refusalOf(doubt, wanted, { declarations }, { settledFor }) ?? {};
    expect(message).toMatch(adopting);
    expect(message).toMatch(registering);
  },
);

test.each([
  ["create", undefined, ["set adoptId to its id.", 'set ifExists: "register" for one run, which']],
  ["read", "read", ["set adoptId to its id, and run `pulumi up`.", "for one `pulumi up`, which"]],
  ["delete", "delete", ["Delete it there, if there is one, and run `pulumi state delete` for the resource."]],
] as const)("what a %s cannot tell names ways that this command can go", (_, settledFor, ways) => {
  const unknowable = { kind: "unknowable", isStale: false } as const;
  const { message = "" } = refusalOf(unknowable, wanted, { declarations }, { settledFor }) ?? {};
  expect(message.split("\n").slice(1)).toEqual(ways.map((way) => expect.stringContaining(way)));
});

test.each<[string, object | undefined, RegExp]>([
  [
    "an alias if its outputs are called as an endpoint's",
    { ...wanted },
    /aliases: \[\{ type: "pulumi-nodejs:dynamic:Resource" \}\]/,
  ],
  [
    "`state delete` if its outputs have other names",
    { endpoint: wanted.url },
    /`pulumi state delete .*::hook`/,
  ],
  ["`state delete` if it has none", undefined, /`pulumi state delete .*::hook`/],
])("a stop because of a resource of another type names it, and %s", (_, outputs, way) => {
  const resource = { ...hook, ...(outputs && { outputs: { ...outputs } }) };
  const owner = { kind: "otherType", resource } as const;
  const stops = [
    { kind: "exists", endpoints: [made("a")], left: 1, owner },
    { kind: "taken", endpoint: made("a"), owner },
  ] as const;
  for (const stop of stops) {
    const message = refusalOf(stop, wanted, { declarations })?.message;
    expect(message).toMatch(/"hook" of the type pulumi-nodejs:dynamic:Resource has it\./);
    expect(message).toMatch(way);
  }
});
