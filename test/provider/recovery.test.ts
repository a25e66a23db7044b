import type { EndpointInputs } from "../../src/provider/state";
import { Actor, type Step } from "./actor";
import type { Fault, Habits, Operation } from "./fakeService";
import type { Shows } from "./pulumiModel";
import { declared } from "./world";

type Kind = Omit<Fault, "operation">;
const status = (code: number, more: Partial<Kind> = {}): Kind => ({ kind: "status", status: code, ...more });
const later = { headers: { "retry-after": "2" } };
/** How a request can end. What the service carries out all the same, or only late, is in doubt. */
const KINDS: readonly Kind[] = [
  ...(["unreachable", "lost-before", "hang-before"] as const).map((kind) => ({ kind })),
  ...[302, 401, 404, 408, 409, 429, 500, 501, 503].map((code) => status(code)),
  ...[status(429, later), status(503, later)],
  ...(["lost-after", "hang-after", "truncated", "garbled", "empty"] as const).map((kind) => ({ kind })),
  // Within the time-out, and after it.
  ...[3_000, 15_000].map((delayMs) => ({ kind: "late-response", delayMs }) as const),
  ...[3_000, 15_000].map((delayMs) => ({ kind: "late-commit", delayMs }) as const),
  ...[303, 408, 500, 503].map((code) => status(code, { effect: true })),
  status(503, { effect: true, ...later }),
];
/** Whether all requests of a command meet it, too. */
const isPlain = ({ effect, headers, delayMs }: Kind) => !effect && !headers && !delayMs;
const OPERATIONS = {
  up: ["register", "list", "get", "delete"],
  refresh: ["list", "get"],
  destroy: ["list", "delete"],
} as const satisfies Record<string, readonly Operation[]>;
type Command = keyof typeof OPERATIONS;

/** Services that differ from one that is exact and complete. At some, what got no response is named, and not taken: a person decides. */
const SERVICES: readonly {
  readonly is: string;
  readonly habits: Habits;
  readonly stops?: boolean;
  readonly shows?: Shows;
}[] = [
  { is: "that is exact", habits: {} },
  { is: "beside a state that a run changes at its end", habits: {}, shows: "before" },
  { is: "beside a state that has no operations", habits: {}, shows: "no operations" },
  { is: "whose lists lag", habits: { lagMs: 3_000 } },
  { is: "whose clock is an hour ahead", habits: { aheadMs: 3_600_000 } },
  { is: "that spells urls its own way", habits: { spell: (url) => url.replace("%7E", "~").toLowerCase() } },
  { is: "that counts minutes", habits: { tells: (at) => at.replace(/:\d\d\.\d+Z$/, ":00Z") }, stops: true },
  { is: "that tells no time zone", habits: { tells: (at) => at.replace("Z", "") }, stops: true },
  { is: "that tells no time", habits: { tells: () => undefined, tellsNoDate: true }, stops: true },
  { is: "that lists a part", habits: { listed: 4 }, stops: true },
];

const at = (path: string, more: Partial<EndpointInputs> = {}) => declared(path, path, more).args;
const declare = (...all: readonly (EndpointInputs | undefined)[]): Step[] =>
  all.map((args, slot) => (args ? { do: "declare", slot, to: { args } } : { do: "remove", slot }));
const run = (command: Command, parallel = 16): Step => ({ do: "run", command, parallel });

/** What was declared is changed by a command that meets a fault. */
function scenarioOf(command: Command, fault: Fault): Step[] {
  const theirs = ["shared", "theirs", "adopted"].map((path): Step => ({ do: "other", args: at(path) }));
  const before = declare(at("kept"), at("old"), at("dropped"));
  const after = declare(
    ...[at("kept"), at("new"), undefined, at("%7Eadded", { ip: "192.0.2.1" }), at("twice"), at("twice")],
    ...[at("shared", { ifExists: "register" }), at("adopted", { adoptId: "wh_3" })],
  );
  // One registration of them is carried out when nobody looks any more.
  const late: Step = { do: "fault", fault: { operation: "register", kind: "late-commit", delayMs: 15_000 } };
  return [
    ...[...theirs, ...before, run("up"), ...after],
    ...(command === "up" ? [] : [late, run("up", 1)]),
    ...(command === "refresh" ? [{ do: "behind", what: "delete", at: 3 } as const] : []),
    ...[{ do: "fault", fault } as const, run(command)],
  ];
}

const faultsOf = (operation: Operation): Fault[] =>
  // What an adoptId names and a get denies, a person takes out of the program.
  KINDS.filter(({ status }) => status !== 404 || operation !== "get")
    .map((kind) => ({ ...kind, operation }))
    .flatMap((fault) => (isPlain(fault) ? [fault, { ...fault, times: Number.POSITIVE_INFINITY }] : [fault]));

describe.each(SERVICES)("at a service $is", ({ is, habits, stops = false, shows }) => {
  test.each(Object.keys(OPERATIONS) as Command[])(
    "%s recovers from every fault of every operation",
    async (command) => {
      // Elsewhere, what a registration meets is what differs.
      const faults =
        is === "that is exact"
          ? OPERATIONS[command].flatMap(faultsOf)
          : faultsOf(command === "up" ? "register" : "list").filter(({ times }) => times === undefined);
      const failed: Record<string, readonly string[]> = {};
      for (const fault of faults) {
        const actor = await Actor.play(scenarioOf(command, fault), habits, 0, shows);
        const { requests } = actor.world.service;
        const wrong = [...actor.wrong, ...(stops ? [] : actor.stops)];
        if (!requests.some((each) => each.operation === fault.operation && each.fault !== ""))
          wrong.push("nothing met the fault");
        const kept = requests.filter((each) => each.operation === "register" && each.body?.includes("/kept"));
        if (command === "up" && kept.length > 1) wrong.push("what nobody touched was replaced");
        if (wrong.length > 0) failed[JSON.stringify(fault)] = wrong;
      }
      expect(failed).toEqual({});
    },
  );
});
