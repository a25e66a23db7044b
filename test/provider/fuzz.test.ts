import * as fc from "fast-check";
import type { EndpointInputs } from "../../src/provider/state";
import { fuzzSeed } from "../seed";
import { Actor, type Kill, type Step } from "./actor";
import type { Command, Declared } from "./engineModel";
import type { Fault } from "./fakeService";
import { SHOWS } from "./pulumiModel";

const { FUZZ_STEPS = "2000", FUZZ_PATH } = process.env;
const wanted = Number(FUZZ_STEPS);
const seed = fuzzSeed();

jest.setTimeout(60_000 + wanted * 100);

/** Few, so that they meet; the last two are one to a service. */
const urls = [
  "https://a.example.com/x",
  "https://b.example.com/y?z=1",
  "https://C.example.com",
  "https://c.example.com/",
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

/** Within the time-out of an operation, beyond it, and within the grace period. */
const delayMs = fc.constantFrom(500, 3_000, 12_000, 17_000);
const kinds = ["unreachable", "lost-before", "lost-after", "hang-before", "hang-after", "garbled"] as const;
const how: fc.Arbitrary<Omit<Fault, "operation">> = fc.oneof(
  fc.constantFrom(...kinds, "truncated", "empty").map((kind) => ({ kind })),
  fc.record({ kind: fc.constantFrom("late-response", "late-commit"), delayMs }),
  // Not 404: a service that denies what it has is believed.
  fc
    .record({ status: fc.constantFrom(400, 401, 408, 409, 429, 500, 502, 503), effect: fc.boolean() })
    .map(({ status, effect }) => ({ kind: "status" as const, status, effect: effect && status >= 500 })),
);
/** Registrations above all: nothing else is ever in doubt. */
const registrations = fc.constant("register" as const);
const operation = fc.oneof(registrations, fc.constantFrom("list", "get", "delete", "any"));
const fault = fc
  .record({ operation, how, times: fc.constantFrom(1, 1, 2, 5), after: fc.constantFrom(0, 0, 0, 1, 2) })
  .map(({ how, ...rest }) => ({ ...rest, ...how }));

const rarely = <T>(what: fc.Arbitrary<T>) => fc.option(what, { freq: 7, nil: undefined });
const kill: fc.Arbitrary<Kill> = fc.record({
  after: fc.array(fc.nat(3), { minLength: 1, maxLength: 2 }),
  at: fc.constantFrom("request", "registration", "registration"),
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
  one(2, fc.record({ do: fc.constant("behind"), what: fc.constantFrom("delete", "edit"), at: fc.nat(9) })),
  one(1, fc.record({ do: fc.constant("rotate"), provider })),
  one(7, fc.record({ do: fc.constant("fault"), fault })),
  one(8, run(anyCommand, rarely(kill))),
  // Registers something, so that the kill has something to lose.
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.array(declareArgs, { minLength: 1, maxLength: 3 }), run(fc.constant("up"), kill))
      .map((both) => both.flat()),
  },
);
const scenario = fc.array(steps, { minLength: 5, maxLength: 20, size: "max" }).map((all) => all.flat());

/** Plays scenarios until they had so many steps. A failure names the seed and the path that `npm run fuzz` replays. */
it(`random programs, edits, faults and kills end with exactly what is declared (${wanted} steps, seed ${seed})`, async () => {
  // The jitter of the client's backoffs.
  jest.spyOn(Math, "random").mockReturnValue(0.5);
  let done = 0;
  const property = fc.asyncProperty(scenario, fc.constantFrom(...SHOWS), async (each, shows) => {
    if (done >= wanted && FUZZ_PATH === undefined) return;
    done += each.length;
    const { wrong, story } = await Actor.play(each, {}, undefined, shows);
    if (wrong.length > 0)
      throw new Error([...wrong, `An export shows: ${shows}. What happened:`, ...story].join("\n"));
  });
  const path = FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH, endOnFailure: true };
  // Each scenario has five steps or more.
  await fc.assert(property, { seed, ...path, numRuns: Math.ceil(wanted / 5) });
});
