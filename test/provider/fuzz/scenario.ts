import * as fc from "fast-check";
import type { Arguments, Kill, Step } from "../actor";
import type { Command } from "../engineModel";
import type { Fault } from "../fakeService";

/** Few, so that they meet; the last two are one to a service. */
const urls = [
  "https://a.example.com/x",
  "https://b.example.com/y?z=1",
  "https://C.example.com",
  "https://c.example.com/",
];
const slot = fc.nat(3);
const type = fc.constantFrom("production" as const, "development" as const);
const args: fc.Arbitrary<Arguments> = fc.record(
  { url: fc.constantFrom(...urls), type, ip: fc.constantFrom("192.0.2.1", "192.0.2.0/24") },
  { requiredKeys: ["url", "type"] },
);

/** Within the time-out of an operation, beyond it, and within patience. */
const delayMs = fc.constantFrom(500, 3_000, 12_000, 17_000);
const how: fc.Arbitrary<Omit<Fault, "operation">> = fc.oneof(
  fc
    .constantFrom(
      ...(["unreachable", "lost-before", "lost-after", "hang-before", "hang-after"] as const),
      ...(["garbled", "truncated", "empty"] as const),
    )
    .map((kind) => ({ kind })),
  fc.record({ kind: fc.constantFrom("late-answer" as const, "late-commit" as const), delayMs }),
  // Not 404: a service that denies what it has is believed.
  fc
    .record({ status: fc.constantFrom(400, 401, 408, 409, 429, 500, 502, 503), effect: fc.boolean() })
    .map(({ status, effect }) => ({ kind: "status" as const, status, effect: effect && status >= 500 })),
);
/** Registrations above all: nothing else is ever in doubt. */
const operation = fc.constantFrom(
  ...(["register", "register", "register", "register", "list", "get", "delete", "any"] as const),
);
const fault = fc
  .record({ operation, how, times: fc.constantFrom(1, 1, 2, 5), after: fc.constantFrom(0, 0, 0, 1, 2) })
  .map(({ how, ...rest }) => ({ do: "fault" as const, fault: { ...rest, ...how } }));

const rarely = <T>(what: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: what });

const kill: fc.Arbitrary<Kill> = fc.record({
  after: fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.nat(3)) },
    { weight: 1, arbitrary: fc.tuple(fc.nat(3), fc.nat(3)) },
  ),
  at: fc.constantFrom(...(["request", "registration", "registration"] as const)),
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
const anyCommand = fc.constantFrom(...(["up", "up", "up", "up", "refresh", "destroy", "preview"] as const));

const declare = fc.record({ do: fc.constant("declare" as const), slot, args });
const provider = fc.constantFrom("", "second");
const change = fc.oneof(fc.record({ provider }), fc.constant({ deleteBeforeReplace: true as const }));
const behind = fc.constantFrom("delete" as const, "edit" as const);
const one = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({
  weight,
  arbitrary: arbitrary.map((step) => [step]),
});
const steps: fc.Arbitrary<readonly Step[]> = fc.oneof(
  one(6, declare),
  one(2, fc.record({ do: fc.constant("remove"), slot })),
  one(2, fc.record({ do: fc.constant("rename"), slot, alias: fc.boolean() })),
  one(2, fc.record({ do: fc.constant("change"), slot, to: change })),
  one(2, fc.record({ do: fc.constant("stranger"), args })),
  one(2, fc.record({ do: fc.constant("behind"), what: behind, at: fc.nat(9) })),
  one(1, fc.record({ do: fc.constant("rotate"), provider })),
  one(7, fault),
  one(8, run(anyCommand, rarely(kill))),
  // Registers something, so that the kill has something to lose.
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.array(declare, { minLength: 1, maxLength: 3 }), run(fc.constant("up"), kill))
      .map((both) => both.flat()),
  },
);

export const scenario: fc.Arbitrary<Step[]> = fc
  .array(steps, { minLength: 5, maxLength: 20, size: "max" })
  .map((all) => all.flat());
