import * as fc from "fast-check";
import type { EndpointInputs } from "../../src/provider/state";
import { fuzzSeed } from "../seed";
import { Actor, type Kill, type Step } from "./actor";
import { type Command, type Declared, HAND_WRITTEN } from "./engineModel";
import type { Fault, Habits } from "./fakeService";
import { SHOWS, type Shows } from "./pulumiModel";

const { FUZZ_STEPS = "2000", FUZZ_PATH } = process.env;
const wanted = Number(FUZZ_STEPS);
const seed = fuzzSeed();

jest.setTimeout(60_000 + wanted * 100);

/** Few, so that they meet; the last two are one to a service, and some services store the one before in a spelling of their own. */
const urls = [
  "https://a.example.com/x",
  "https://b.example.com/Y/?token=1",
  "https://C.example.com",
  "https://c.example.com/",
];
const spellings: readonly ((url: string) => string)[] = [
  (url) => url.replace(/\/(\?|$)/, "$1"),
  (url) => url.replace("/Y", "/y"),
  (url) => url.replace(/token=.*/, "token=****"),
];
const slot = fc.nat(3);
const provider = fc.constantFrom("", "second");
const args: fc.Arbitrary<EndpointInputs> = fc.record(
  {
    url: fc.constantFrom(...urls),
    type: fc.constantFrom("production", "development"),
    ip: fc.constantFrom("192.0.2.1", "192.0.2.0/24"),
    ifExists: fc.constant("adopt"),
  },
  { requiredKeys: ["url", "type"] },
);

/** Within the time-out of an operation, beyond it, and early enough for a list that lags to show it within the grace period. */
const delayMs = fc.constantFrom(500, 3_000, 12_000, 14_000);
/** How far a replica lags behind, within what the contract allows. */
const lagMs = fc.constantFrom(1_000, 3_000, 4_800);
const kinds = ["unreachable", "lost-before", "lost-after", "hang-before", "hang-after", "garbled"] as const;
const how: fc.Arbitrary<Omit<Fault, "operation">> = fc.oneof(
  fc.constantFrom(...kinds, "truncated", "empty").map((kind) => ({ kind })),
  fc.record({ kind: fc.constantFrom("late-response", "late-commit"), delayMs }),
  fc.record({ kind: fc.constantFrom("stale", "blank"), delayMs: lagMs }),
  fc
    .record({
      status: fc.constantFrom(400, 401, 408, 409, 429, 500, 502, 503, 404, 410),
      effect: fc.boolean(),
    })
    .map(({ status, effect }) => ({ kind: "status" as const, status, effect: effect && status >= 500 })),
);
/** Registrations above all: nothing else is ever in doubt. */
const registrations = fc.constant("register" as const);
const operation = fc.oneof(registrations, fc.constantFrom("list", "get", "delete", "any"));
const fault = fc
  .record({ operation, how, times: fc.constantFrom(1, 1, 2, 5), after: fc.constantFrom(0, 0, 0, 1, 2) })
  .map(({ how, ...rest }) => ({ ...rest, ...how }));

/** A proxy denies what its service has: once, or for a while, after a failure, too. */
const denials = fc
  .record({
    operation: fc.constantFrom("get", "delete", "delete", "list", "any"),
    status: fc.constantFrom(404, 410),
    times: fc.constantFrom(1, 1, 3, 20),
    first: fc.option(
      fc.constantFrom<Omit<Fault, "operation">>({ kind: "status", status: 502 }, { kind: "lost-before" }),
    ),
  } as const)
  .map(({ first, operation, ...rest }) => [
    ...(first ? [{ operation, ...first }] : []),
    { operation, kind: "status", ...rest } as const,
  ]);

const rarely = <T>(what: fc.Arbitrary<T>) => fc.option(what, { freq: 7, nil: undefined });
const kill: fc.Arbitrary<Kill> = fc.record({
  after: fc.array(fc.nat(3), { minLength: 1, maxLength: 2 }),
  at: fc.constantFrom("request", "registration", "registration"),
  isCtrlC: fc.constantFrom(false, false, true),
});
const run = <T extends Command>(command: fc.Arbitrary<T>, kills: fc.Arbitrary<Kill | undefined>) =>
  fc.record({
    do: fc.constant("run" as const),
    command,
    refresh: fc.boolean(),
    parallel: fc.constantFrom(1, 16),
    replace: rarely(slot),
    retries: fc.constantFrom(0, 0, 0, 1, 3),
    kill: kills,
  });
const anyCommand = fc.constantFrom<Command[]>("up", "up", "up", "up", "refresh", "destroy", "preview");
const declare = (to: fc.Arbitrary<Partial<Declared>>) =>
  fc.record({ do: fc.constant("declare" as const), slot, to });
const declareArgs = declare(fc.record({ args }));

const one = (weight: number, step: fc.Arbitrary<Step>) => ({ weight, arbitrary: fc.tuple(step) });
const steps: fc.Arbitrary<readonly Step[]> = fc.oneof(
  one(6, declareArgs),
  one(2, fc.record({ do: fc.constant("remove"), slot })),
  one(2, fc.record({ do: fc.constant("rename"), slot, alias: fc.boolean() })),
  one(1, declare(fc.record({ provider }))),
  one(1, declare(fc.constant({ deleteBeforeReplace: true }))),
  one(2, fc.record({ do: fc.constant("other"), args })),
  one(2, fc.record({ do: fc.constant("adopt"), slot, at: fc.nat(9) })),
  // What was adopted is replaced, and the run that does it is cut short.
  {
    weight: 1,
    arbitrary: fc
      .tuple(slot, fc.nat(9), args, fault, run(fc.constant("up"), kill))
      .map(([slot, at, args, fault, cut]): Step[] => [
        { do: "adopt", slot, at },
        { do: "run", command: "up" },
        { do: "declare", slot, to: { args } },
        { do: "fault", fault: { ...fault, operation: "register", times: 1, after: 0 } },
        cut,
      ]),
  },
  // In slots of their own.
  one(
    1,
    fc.record({
      do: fc.constant("declare"),
      slot: fc.constantFrom(4, 5),
      to: fc.record({
        args: args.map(({ url, type }) => ({ url, type })),
        type: fc.constant(HAND_WRITTEN),
        isSecret: fc.boolean(),
      }),
    }),
  ),
  one(1, fc.record({ do: fc.constant("remove"), slot: fc.constantFrom(4, 5) })),
  one(2, fc.record({ do: fc.constant("behind"), what: fc.constantFrom("delete", "edit"), at: fc.nat(9) })),
  one(1, fc.record({ do: fc.constant("rotate"), provider })),
  one(7, fc.record({ do: fc.constant("fault"), fault })),
  {
    weight: 2,
    arbitrary: denials.map((faults) => faults.map((fault) => ({ do: "fault" as const, fault }))),
  },
  one(8, run(anyCommand, rarely(kill))),
  // Registers something, so that the kill has something to lose.
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.array(declareArgs, { minLength: 1, maxLength: 3 }), run(fc.constant("up"), kill))
      .map((both) => both.flat()),
  },
);
/** Each service has few oddities at most. */
const habits: fc.Arbitrary<Habits> = fc.oneof(
  ...[fc.constant({}), fc.constant({}), fc.record({ lagMs, isReplica: fc.boolean() })],
  fc.constant({ reusesIds: true }),
  fc.constantFrom(...spellings).map((spell) => ({ spell })),
  fc
    .array(fc.constantFrom(0, 0, 3_000), { minLength: 2, maxLength: 7 })
    .map((all) => ({ replicasAheadMs: all })),
);
const scenario = fc.array(steps, { minLength: 5, maxLength: 20, size: "max" }).map((all) => all.flat());

function describePlace(habits: Habits, shows: Shows): string {
  const told = JSON.stringify(habits, (_, value) => (typeof value === "function" ? `${value}` : value));
  return `An export shows: ${shows}. The service's habits: ${told}. What happened:`;
}

/** Plays scenarios until they had so many steps. A failure names the seed and the path that `npm run fuzz` replays. */
it(`random programs, edits, faults and kills end with exactly what is declared (${wanted} steps, seed ${seed})`, async () => {
  // The jitter of the client's backoffs.
  jest.spyOn(Math, "random").mockReturnValue(0.5);
  let done = 0;
  const property = fc.asyncProperty(
    scenario,
    habits,
    fc.constantFrom(...SHOWS),
    async (each, habits, shows) => {
      if (done >= wanted && FUZZ_PATH === undefined) return;
      done += each.length;
      const { wrong, story } = await Actor.play(each, habits, undefined, shows);
      if (wrong.length > 0) throw new Error([...wrong, describePlace(habits, shows), ...story].join("\n"));
    },
  );
  const path = FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH, endOnFailure: true };
  // Each scenario has five steps or more.
  await fc.assert(property, { seed, ...path, numRuns: Math.ceil(wanted / 5) });
});
