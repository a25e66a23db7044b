import { Actor, type Arguments, type Step } from "./actor";
import type { Fault, Habits, Operation } from "./fakeService";
import { urlOf } from "./world";

jest.setTimeout(120_000);

type Kind = Omit<Fault, "operation">;
const status = (code: number, effect = false, headers = {}): Kind => ({
  ...{ kind: "status", status: code, effect, headers },
});
const later = { "retry-after": "2" };
/** How a request can end. Those that the service carries out all the same leave it in doubt. */
const KINDS: Readonly<Record<string, Kind>> = {
  ...{ unreachable: { kind: "unreachable" }, "lost before": { kind: "lost-before" } },
  ...{ "lost after": { kind: "lost-after" }, "hang before": { kind: "hang-before" } },
  ...{ "hang after": { kind: "hang-after" }, truncated: { kind: "truncated" } },
  ...{ "a website": { kind: "garbled" }, "an empty answer": { kind: "empty" } },
  "an answer within the time-out": { kind: "late-answer", delayMs: 3_000 },
  "an answer after the time-out": { kind: "late-answer", delayMs: 15_000 },
  "a commit within the time-out": { kind: "late-commit", delayMs: 3_000 },
  "a commit after the time-out": { kind: "late-commit", delayMs: 15_000 },
  ...Object.fromEntries([302, 401, 404, 408, 409, 429, 500, 501, 503].map((code) => [code, status(code)])),
  ...Object.fromEntries([303, 408, 500, 503].map((code) => [`${code} after`, status(code, true)])),
  "429 that says when": status(429, false, later),
  "503 that says when": status(503, false, later),
  "503 after that says when": status(503, true, later),
};
/** Those that all requests of a command meet, too. */
const LASTING = ["unreachable", "lost after", "hang before", "hang after", "a website", "401", "429", "500"];
const OPERATIONS = {
  up: ["register", "list", "get", "delete"],
  refresh: ["list", "get"],
  destroy: ["list", "delete"],
} as const satisfies Record<string, readonly Operation[]>;
type Command = keyof typeof OPERATIONS;

/** Services that differ from one that is exact and complete. */
const HABITS: Readonly<Record<string, Habits>> = {
  "that is exact": {},
  "whose lists lag": { lagMs: 3_000 },
  "whose clock is an hour ahead": { aheadMs: 3_600_000 },
  "that counts whole minutes": { tells: (exactly) => exactly.replace(/:\d\d\.\d+Z$/, ":00Z") },
  "that tells the time without a zone": { tells: (exactly) => exactly.replace("Z", "") },
  "that tells no time": { tells: () => undefined, tellsNoDate: true },
  "that lists a part": { listed: 4 },
  "that spells urls its own way": { spell: (url) => url.replace("%7E", "~").toLowerCase() },
};

/** Where what an unanswered registration made is named, and not taken. */
const STOPS = Object.keys(HABITS).filter((habit) =>
  /whole minutes|no time|without a zone|a part/.test(habit),
);

const at = (path: string, more: Partial<Arguments> = {}): Arguments => ({
  ...{ url: urlOf(path), type: "production" },
  ...more,
});
const declare = (...all: readonly (Arguments | undefined)[]): Step[] =>
  all.map((args, slot) => (args ? { do: "declare", slot, args } : { do: "remove", slot }));
const run = (command: Command, parallel = 16): Step => ({ do: "run", command, parallel });

/** What was declared is changed by a command that meets a fault. */
function scenarioOf(command: Command, fault: Fault): Step[] {
  const theirs = ["shared", "theirs", "adopted"].map((path): Step => ({ do: "stranger", args: at(path) }));
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

const faultsOf = (command: Command): Fault[] =>
  OPERATIONS[command].flatMap((operation) =>
    Object.entries(KINDS)
      // A service that denies what it has is believed, and what only reads has no effect.
      .filter(([kind]) => !(kind === "404" && (operation === "get" || operation === "delete")))
      .filter(([kind]) => !(/after$|commit/.test(kind) && (operation === "list" || operation === "get")))
      .flatMap(([name, kind]) => [
        { ...kind, operation },
        ...(LASTING.includes(name) ? [{ ...kind, operation, times: Number.POSITIVE_INFINITY }] : []),
      ]),
  );

describe.each(Object.keys(HABITS))("at a service %s", (habit) => {
  test.each(Object.keys(OPERATIONS) as Command[])(
    "%s recovers from every fault of every operation",
    async (command) => {
      const failed: Record<string, readonly string[]> = {};
      for (const fault of faultsOf(command)) {
        const { operation, times } = fault;
        // Elsewhere, what a registration meets is what differs.
        const isDifferent = times === undefined && operation === (command === "up" ? "register" : "list");
        if (habit !== "that is exact" && !isDifferent) continue;
        const actor = await Actor.play(scenarioOf(command, fault), HABITS[habit], 0);
        const { requests } = actor.world.service;
        const wrong = [...actor.wrong, ...(STOPS.includes(habit) ? [] : actor.stops)];
        if (!requests.some((each) => each.operation === operation && each.fault !== ""))
          wrong.push("nothing met the fault");
        const kept = requests.filter((each) => each.operation === "register" && each.body?.includes("/kept"));
        if (command === "up" && kept.length > 1) wrong.push("what nobody touched was replaced");
        if (wrong.length > 0) failed[JSON.stringify(fault)] = wrong;
      }
      expect(failed).toEqual({});
    },
  );
});
