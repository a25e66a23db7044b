import fc from "fast-check";
import type { Endpoint, EndpointList } from "../../src/client";
import { type Decision, decide, type Pending, type Question } from "../../src/settlement/decide";
import { placeIn, windowOf } from "../../src/settlement/time";
import type { Holder } from "../../src/settlement/trace";

const identity = { url: "https://hooks.example.com/jobs", type: "production" } as const;
const sentAt = Date.UTC(2026, 0, 1, 12);
const patienceMs = 60_000;
const ids = ["a", "b", "c", "d", "e"];

/** Moments around two windows and their borders, in milliseconds since `sentAt`. */
const offset = fc.oneof(
  fc.integer({ min: -10_000, max: 200_000 }),
  fc.constantFrom(-5_001, -5_000, 0, patienceMs, patienceMs + 1, 100_000 - 5_000, 100_000 + patienceMs),
);
const time = (at: number) => new Date(sentAt + at).toISOString();

const pending: fc.Arbitrary<Pending> = fc.record({
  window: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.constantFrom(0, 30_000, 100_000).map((at) => windowOf(sentAt + at, patienceMs)),
    },
    { weight: 1, arbitrary: fc.constant(windowOf(null, patienceMs)) },
  ),
  before: fc.subarray(ids, { maxLength: 2 }),
  complete: fc.boolean(),
  id: fc.option(fc.constantFrom(...ids), { nil: undefined }),
  sameIp: fc.boolean(),
  own: fc.boolean(),
  explainsOnly: fc.boolean(),
  doubt: fc.option(fc.constant("it is old"), { nil: undefined }),
});

const endpoints: fc.Arbitrary<Endpoint[]> = fc.subarray(ids).chain((chosen) =>
  fc.tuple(
    ...chosen.map((id) =>
      fc.record({
        id: fc.constant(id),
        url: fc.constantFrom(
          identity.url,
          identity.url.replace("hooks", "HOOKS"),
          "https://else.example.com",
        ),
        type: fc.constantFrom<Endpoint["type"]>("production", "production", "development"),
        createdAt: fc.option(offset.map(time), { nil: null, freq: 9 }),
        updatedAt: fc.constant(null),
      }),
    ),
  ),
);

const question = fc
  .record({
    pending: fc.array(pending, { maxLength: 4 }),
    endpoints,
    complete: fc.boolean(),
    now: fc.option(offset, { nil: null }),
    odd: fc.option(fc.constantFrom(identity.url, null), { nil: undefined, freq: 3 }),
    holders: fc.array(fc.constantFrom<Holder>("nobody", "nobody", "somebody", "unclear"), {
      minLength: ids.length,
      maxLength: ids.length,
    }),
  })
  .map(({ pending, endpoints, complete, now, odd, holders }): Question & { list: EndpointList } => ({
    identity,
    pending,
    list: {
      endpoints,
      unrecognized: odd === undefined ? [] : [{ id: "odd", url: odd }],
      complete,
      serverTime: now === null ? null : sentAt + now,
    },
    holderOf: ({ id }) => holders[ids.indexOf(id)] ?? "nobody",
    patienceMs,
  }));

/** Checks something about every decision. */
const always = (holds: (decision: Decision, asked: Question) => boolean, asked = question) =>
  fc.assert(
    fc.property(asked, (each) => holds(decide(each), each)),
    { numRuns: 3_000 },
  );
const named = (decision: Decision): readonly Endpoint[] =>
  decision.kind === "found" ? [decision.endpoint] : decision.kind === "doubt" ? decision.candidates : [];
const isEarlier = ({ window, before, id }: Pending, endpoint: Endpoint) =>
  id === endpoint.id && !before.includes(id) && Date.parse(endpoint.createdAt ?? "") < window.from;
const fits = ({ window, before, id }: Pending, endpoint: Endpoint) =>
  placeIn(window, endpoint.createdAt) !== "outside" &&
  (id === undefined ? !before.includes(endpoint.id) : id === endpoint.id);

test("an endpoint outside every window is never found, and is named only by the id of a registration, as of an earlier time", () => {
  always((decision, { pending }) =>
    named(decision).every((endpoint) =>
      pending.some(
        (each) =>
          placeIn(each.window, endpoint.createdAt) !== "outside" ||
          (decision.kind === "doubt" && isEarlier(each, endpoint)),
      ),
    ),
  );
});

test("what is found fits the registration that it is said to come from, and that is the asker's own", () => {
  always(
    (decision) =>
      decision.kind !== "found" ||
      (fits(decision.by, decision.endpoint) &&
        decision.by.sameIp &&
        !decision.by.explainsOnly &&
        decision.by.doubt === undefined),
  );
});

test("an endpoint that somebody has is neither found nor named", () => {
  always((decision, { holderOf }) => named(decision).every((endpoint) => holderOf(endpoint) !== "somebody"));
});

test("an endpoint that somebody may have is never found", () => {
  always((decision, { holderOf }) => decision.kind !== "found" || holderOf(decision.endpoint) === "nobody");
});

test("what is found or named is in the list, with this url and type", () => {
  always((decision, { list }) =>
    named(decision).every(
      (endpoint) =>
        list.endpoints.includes(endpoint) && endpoint.type === "production" && /hooks/i.test(endpoint.url),
    ),
  );
});

test("doubt names at least one endpoint, and only those that fit a registration", () => {
  always(
    (decision, { pending }) =>
      decision.kind !== "doubt" ||
      (decision.candidates.length > 0 &&
        decision.candidates.every((endpoint) =>
          pending.some((each) => fits(each, endpoint) || isEarlier(each, endpoint)),
        )),
  );
});

test("what is named in doubt is never older than what is named before it", () => {
  const timeOf = ({ createdAt }: Endpoint) => (createdAt === null ? 0 : Date.parse(createdAt));
  always((decision) => {
    const times = named(decision).map(timeOf);
    return times.every((each, index) => index === 0 || each >= (times[index - 1] ?? 0));
  });
});

test("nothing is found or in doubt where nothing of the asker is pending", () => {
  const others = question.map((each) => ({
    ...each,
    pending: each.pending.map((one) => ({ ...one, explainsOnly: true })),
  }));
  always((decision) => named(decision).length === 0, others);
});

test("an endpoint of another url changes nothing", () => {
  fc.assert(
    fc.property(question, offset, fc.boolean(), (asked, at, first) => {
      const other: Endpoint = {
        id: "other",
        url: "https://other.example.com",
        type: "production",
        createdAt: time(at),
        updatedAt: null,
      };
      const { endpoints } = asked.list;
      const list = { ...asked.list, endpoints: first ? [other, ...endpoints] : [...endpoints, other] };
      expect(decide({ ...asked, list })).toEqual(decide(asked));
    }),
    { numRuns: 1_000 },
  );
});

test("an endpoint that somebody has changes nothing", () => {
  fc.assert(
    fc.property(question, offset, (asked, at) => {
      const theirs: Endpoint = { id: "theirs", ...identity, createdAt: time(at), updatedAt: null };
      const list = { ...asked.list, endpoints: [theirs, ...asked.list.endpoints] };
      const holderOf = (endpoint: Endpoint) => (endpoint === theirs ? "somebody" : asked.holderOf(endpoint));
      expect(decide({ ...asked, list, holderOf })).toEqual(decide(asked));
    }),
    { numRuns: 1_000 },
  );
});

test("taking what is found, again and again, gives no more endpoints than registrations are pending, and none twice", () => {
  fc.assert(
    fc.property(question, (asked) => {
      const taken: string[] = [];
      let pending = asked.pending;
      for (;;) {
        const holderOf = (endpoint: Endpoint) =>
          taken.includes(endpoint.id) ? "somebody" : asked.holderOf(endpoint);
        const decision = decide({ ...asked, pending, holderOf });
        if (decision.kind !== "found") break;
        expect(taken).not.toContain(decision.endpoint.id);
        taken.push(decision.endpoint.id);
        pending = pending.filter((each) => each !== decision.by);
      }
      expect(taken.length).toBeLessThanOrEqual(
        asked.pending.filter(({ explainsOnly }) => !explainsOnly).length,
      );
    }),
    { numRuns: 2_000 },
  );
});

test("the order in which the service lists does not matter", () => {
  const distinct = question.filter(({ list: { endpoints } }) => {
    const times = endpoints.map(({ createdAt }) => createdAt);
    return new Set(times).size === times.length;
  });
  fc.assert(
    fc.property(distinct, (asked) => {
      const list = { ...asked.list, endpoints: asked.list.endpoints.toReversed() };
      expect(decide({ ...asked, list })).toEqual(decide(asked));
    }),
    { numRuns: 1_000 },
  );
});

test("no wait is longer than the patience, and a partial list never shows that nothing was made", () => {
  always((decision, { list, pending }) => {
    if (decision.kind === "wait")
      return decision.milliseconds > 0 && decision.milliseconds <= patienceMs && list.complete;
    const unproven = pending.filter(({ id }) => id === undefined);
    return decision.kind !== "absent" || list.complete || unproven.length === 0;
  });
});
