import * as fc from "fast-check";
import type { Command } from "../engineModel";
import type { Fault } from "../fakeService";

export type Step =
  /** A resource is added to the program, or given other arguments. */
  | { readonly do: "declare"; readonly slot: number; readonly args: Arguments }
  | { readonly do: "remove"; readonly slot: number }
  | { readonly do: "rename"; readonly slot: number; readonly alias: boolean }
  /** Is deleted before it is replaced; is in another account, or at another service at another base URL. */
  | {
      readonly do: "change";
      readonly slot: number;
      readonly to: { readonly deleteBeforeReplace: true } | { readonly provider: (typeof providers)[number] };
    }
  /** Somebody else registers what the program may declare, too. */
  | { readonly do: "stranger"; readonly args: Arguments }
  /** Behind Pulumi's back, to one of what is registered. */
  | { readonly do: "behind"; readonly what: "delete" | "edit"; readonly at: number }
  | { readonly do: "rotate"; readonly provider: (typeof providers)[number] }
  | { readonly do: "fault"; readonly elsewhere: boolean; readonly fault: Fault }
  | Run;

export interface Run {
  readonly do: "run";
  readonly command: Command;
  readonly refresh: boolean;
  readonly parallel: number;
  /** `--replace` of one resource. */
  readonly replace: number | null;
  /** How often a hook has a creation that failed tried again. */
  readonly retries: number;
  readonly kill: Kill | null;
  /** What is declared first. */
  readonly declares: readonly { readonly slot: number; readonly args: Arguments }[];
}

export interface Kill {
  /** How many of these pass first: with two numbers, a second `up` is killed, too. */
  readonly after: readonly number[];
  readonly at: "request" | "registration";
}

export interface Arguments {
  readonly url: string;
  readonly type: "production" | "development";
  readonly ip?: string;
}

/** The last one is at another service. */
export const providers = ["", "second", "third"] as const;

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
const fault: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("fault" as const),
  elsewhere: fc.constantFrom(false, false, false, true),
  fault: fc
    .record({
      operation,
      how,
      times: fc.constantFrom(1, 1, 2, 5),
      after: fc.constantFrom(0, 0, 0, 1, 2),
    })
    .map(({ how, ...rest }) => ({ ...rest, ...how })),
});

const rarely = <T>(what: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: what });

const kill: fc.Arbitrary<Kill> = fc.record({
  after: fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.nat(3)) },
    { weight: 1, arbitrary: fc.tuple(fc.nat(3), fc.nat(3)) },
  ),
  at: fc.constantFrom(...(["request", "registration", "registration"] as const)),
});

const run = (
  command: fc.Arbitrary<Command>,
  kills: fc.Arbitrary<Kill | null>,
  declares: number,
): fc.Arbitrary<Step> =>
  fc.record({
    do: fc.constant("run" as const),
    command,
    refresh: fc.boolean(),
    parallel: fc.constantFrom(1, 16),
    replace: rarely(slot),
    retries: fc.constantFrom(0, 0, 0, 1, 3),
    kill: kills,
    declares: fc.array(fc.record({ slot, args }), { minLength: declares, maxLength: 3 * declares }),
  });
const anyCommand = fc.constantFrom(...(["up", "up", "up", "up", "refresh", "destroy", "preview"] as const));

const provider = fc.constantFrom(...providers);
const change = fc.oneof(fc.record({ provider }), fc.constant({ deleteBeforeReplace: true as const }));
const one = <T extends string>(name: T) => fc.constant(name);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: one("declare"), slot, args }) },
  { weight: 2, arbitrary: fc.record({ do: one("remove"), slot }) },
  { weight: 2, arbitrary: fc.record({ do: one("rename"), slot, alias: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: one("change"), slot, to: change }) },
  { weight: 2, arbitrary: fc.record({ do: one("stranger"), args }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: one("behind"),
      what: fc.constantFrom("delete" as const, "edit" as const),
      at: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: one("rotate"), provider }) },
  { weight: 7, arbitrary: fault },
  { weight: 8, arbitrary: run(anyCommand, rarely(kill), 0) },
  // Registers something, so that the kill has something to lose.
  { weight: 4, arbitrary: run(one("up"), kill, 1) },
);

export const scenario: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 5, maxLength: 20, size: "max" });
