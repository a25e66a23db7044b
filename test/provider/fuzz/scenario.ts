import * as fc from "fast-check";
import type { Misbehaviour, Operation } from "../../../src/emulator";

/** The real milliseconds that a delayed answer and a late commit take: some are within an operation's time-out, some later than a run looks. */
const delays = fc.constantFrom(50, 300, 1_700, 1_700);

export type Step =
  /** A resource is added to the program, or given other arguments. */
  | { readonly do: "declare"; readonly slot: number; readonly args: Arguments }
  | { readonly do: "remove"; readonly slot: number }
  | { readonly do: "rename"; readonly slot: number; readonly alias: boolean }
  | { readonly do: "delete first"; readonly slot: number }
  /** To another account, or to another service at another base URL, and back. */
  | { readonly do: "move"; readonly slot: number; readonly to: (typeof providers)[number] }
  | { readonly do: "swap"; readonly slots: readonly [number, number] }
  /** Somebody registers an endpoint, which a resource is then to take over. */
  | { readonly do: "adopt"; readonly slot: number; readonly args: Arguments }
  /** A resource is to take over what another one of the program has. */
  | { readonly do: "steal"; readonly slots: readonly [number, number] }
  /** Behind Pulumi's back, to one of what is registered. */
  | { readonly do: "behind"; readonly what: "add" | "delete" | "edit"; readonly at: number }
  | { readonly do: "rotate"; readonly provider: (typeof providers)[number] }
  | {
      readonly do: "fault";
      /** Whether it is at the other service. */
      readonly elsewhere: boolean;
      readonly operation: Operation | "any";
      readonly misbehaviour: Misbehaviour;
      readonly times: number;
      readonly after: number;
    }
  | Command;

export interface Command {
  readonly do: "run";
  readonly command: "preview" | "up" | "refresh" | "destroy";
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
  /**
   * The run is killed when so many more requests have reached the services, or at a registration that is made and not
   * answered, after so many others. With two numbers, a second `up` is killed too.
   */
  readonly after: readonly number[];
  readonly at: "request" | "registration";
  /** `interrupt` is Ctrl-C twice: the run gets an entry in the history. `plugin`: the engine itself lives on. */
  readonly what: "everything" | "interrupt" | "plugin";
  readonly heal: Heal;
}

/** What the user does after a kill. */
export interface Heal {
  /** With `up`, on this machine or on another one. */
  readonly by: "up" | "up elsewhere";
  /** What the user runs before that. */
  readonly first: "refresh" | "preview" | null;
  readonly refresh: boolean;
  readonly parallel: number;
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
const anyArgs: fc.Arbitrary<Arguments> = fc.record(
  { url: fc.constantFrom(...urls), type, ip: fc.constantFrom("192.0.2.1", "192.0.2.0/24") },
  { requiredKeys: ["url", "type"] },
);
/** Never two that differ only in ip. */
const plainArgs: fc.Arbitrary<Arguments> = fc
  .record({ url: fc.constantFrom(...urls), type })
  .map(({ url, type }) => ({ url, type, ...(url.startsWith("https://a") ? {} : { ip: "192.0.2.1" }) }));

/** Registrations above all: nothing else is ever in doubt. */
const operations = ["register", "register", "register", "register", "list", "get", "delete", "any"] as const;

const misbehaviour: fc.Arbitrary<Misbehaviour> = fc.oneof(
  fc
    .constantFrom(
      "refuse",
      "reset-before",
      "reset-after",
      "hang-before",
      "hang-after",
      "truncated",
      "malformed",
      "empty",
    )
    .map((kind) => ({ kind }) as Misbehaviour),
  delays.map((delayMs) => ({ kind: "delay", delayMs }) as const),
  { weight: 3, arbitrary: delays.map((delayMs) => ({ kind: "late-commit", delayMs }) as const) },
  // Not 404: a service that denies what it has is believed.
  fc
    .record({
      status: fc.constantFrom(400, 401, 408, 409, 429, 500, 502, 503, 504),
      effect: fc.boolean(),
    })
    .map(({ status, effect }) => ({ kind: "status", status, effect: effect && status >= 500 }) as const),
);

const rarely = <T>(what: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: what });

const parallel = fc.constantFrom(1, 16);

const killed = {
  after: fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.nat(3)) },
    { weight: 1, arbitrary: fc.tuple(fc.nat(3), fc.nat(3)) },
  ),
  at: fc.constantFrom("request" as const, "registration" as const, "registration" as const),
};
const healed = { first: fc.constantFrom("refresh" as const, "preview" as const, null, null), parallel };
const anyKill: fc.Arbitrary<Kill> = fc.record({
  ...killed,
  what: fc.constantFrom("everything", "interrupt", "plugin"),
  heal: fc.record({
    ...healed,
    by: fc.constantFrom("up", "up elsewhere"),
    refresh: fc.boolean(),
  }),
});
const run = (kill: fc.Arbitrary<Kill>): fc.Arbitrary<Step> =>
  fc.record({
    do: fc.constant("run" as const),
    command: fc.constantFrom(...(["up", "up", "up", "up", "refresh", "destroy", "preview"] as const)),
    refresh: fc.boolean(),
    parallel,
    replace: rarely(slot),
    retries: fc.constantFrom(0, 0, 0, 1, 3),
    kill: rarely(kill),
    declares: fc.constant([]),
  });

/** Registers something, so that the kill has something to lose. */
const killedUp = (args: fc.Arbitrary<Arguments>, kill: fc.Arbitrary<Kill>): fc.Arbitrary<Step> =>
  fc.record({
    do: fc.constant("run" as const),
    command: fc.constant("up" as const),
    refresh: fc.boolean(),
    parallel,
    replace: rarely(slot),
    retries: fc.constantFrom(0, 0, 1),
    kill,
    declares: fc.array(fc.record({ slot, args }), { minLength: 1, maxLength: 3 }),
  });

const step = (args: fc.Arbitrary<Arguments>, kill: fc.Arbitrary<Kill>): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("declare" as const), slot, args }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), slot }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("rename" as const), slot, alias: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("delete first" as const), slot }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("move" as const), slot, to: fc.constantFrom(...providers) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("swap" as const), slots: fc.tuple(slot, slot) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("adopt" as const), slot, args }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("steal" as const), slots: fc.tuple(slot, slot) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("behind" as const),
        what: fc.constantFrom("add" as const, "delete" as const, "edit" as const),
        at: fc.nat(9),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("rotate" as const), provider: fc.constantFrom(...providers) }),
    },
    {
      weight: 7,
      arbitrary: fc.record({
        do: fc.constant("fault" as const),
        elsewhere: fc.constantFrom(false, false, false, true),
        operation: fc.constantFrom(...operations),
        misbehaviour,
        times: fc.constantFrom(1, 1, 2, 5),
        after: fc.constantFrom(0, 0, 0, 1, 2),
      }),
    },
    { weight: 8, arbitrary: run(kill) },
    { weight: 4, arbitrary: killedUp(args, kill) },
  );

const lostAnswers: Misbehaviour[] = [
  { kind: "late-commit", delayMs: 1_700 },
  { kind: "late-commit", delayMs: 1_700 },
  { kind: "hang-before" },
];

/** A registration whose answer is lost, and then other arguments for its resource. Random steps seldom meet like this. */
const changeInDoubt = (args: fc.Arbitrary<Arguments>): fc.Arbitrary<Step[]> =>
  fc
    .record({ slot, args: fc.tuple(args, args), lost: fc.constantFrom(...lostAnswers), parallel })
    .map(({ slot, args: [first, second], lost, parallel }) => {
      const undisturbed = { refresh: false, replace: null, retries: 0, kill: null, declares: [] };
      const up = { do: "run", command: "up", parallel, ...undisturbed } as const;
      const always = { elsewhere: false, times: 1, after: 0 };
      return [
        { do: "declare", slot, args: first },
        { do: "fault", operation: "register", misbehaviour: lost, ...always },
        up,
        { do: "declare", slot, args: second },
        up,
      ];
    });

const steps = (args: fc.Arbitrary<Arguments>, kill: fc.Arbitrary<Kill>): fc.Arbitrary<Step[]> =>
  fc
    .array(
      fc.oneof(
        { weight: 20, arbitrary: step(args, kill).map((one) => [one]) },
        { weight: 1, arbitrary: changeInDoubt(args) },
      ),
      { minLength: 5, maxLength: 20, size: "max" },
    )
    .map((parts) => parts.flat());

export const scenario: fc.Arbitrary<Step[]> = fc.oneof(steps(anyArgs, anyKill), {
  weight: 2,
  arbitrary: steps(plainArgs, anyKill),
});
