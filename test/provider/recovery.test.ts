import { nameOf } from "../../src/shared/urn";
import type { Declared, Problems } from "./engineModel";
import type { Fault, Habits, Operation } from "./fakeService";
import { names, wayOn } from "./person";
import { declared, urlOf, World } from "./world";

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
  "that counts whole minutes": { times: "whole minutes" },
  "that tells the time without a zone": { times: "no zone" },
  "that tells no time": { times: "none", tellsNoDate: true },
  "that lists a part": { listed: 4 },
  "that spells urls its own way": { spell: (url) => url.replace("%7E", "~").toLowerCase() },
};

/** Where what an unanswered registration made is named, and not taken. */
const STOPS = ["that tells the time without a zone", "that tells no time", "that lists a part"];

interface Cell {
  readonly command: Command;
  readonly operation: Operation;
  readonly kind: string;
  readonly times: number;
}

const cellsOf = (command: Command): Cell[] =>
  OPERATIONS[command].flatMap((operation) =>
    Object.keys(KINDS)
      // A service that denies what it has is believed, and what only reads has no effect.
      .filter((kind) => !(kind === "404" && (operation === "get" || operation === "delete")))
      .filter((kind) => !(/after$|commit/.test(kind) && (operation === "list" || operation === "get")))
      .flatMap((kind) => [
        { command, operation, kind, times: 1 },
        ...(LASTING.includes(kind) ? [{ command, operation, kind, times: Number.POSITIVE_INFINITY }] : []),
      ]),
  );

/** Returns what is wrong after a command that meets a fault, and at most two that do not. */
async function play({ command, operation, kind, times }: Cell, habit: string): Promise<string[]> {
  const world = new World({ habits: HABITS[habit] ?? {} });
  const { service, stack, time } = world;
  const others = [service.add({ url: urlOf("shared") }), service.add({ url: urlOf("theirs") })];
  const adopted = service.add({ url: urlOf("adopted") });
  await time.pass(60_000);
  const before = [declared("kept"), declared("changed", "old"), declared("dropped")];
  const after = [
    ...[declared("kept"), declared("changed", "new"), declared("added", "%7Eadded", { ip: "192.0.2.1" })],
    ...[declared("one", "twice"), declared("other", "twice")],
    declared("shared", "shared", { ifExists: "register" }),
    declared("adopting", "adopted", { adoptId: adopted.id }),
  ];
  const wrong: string[] = [];
  if ((await world.up(before)).length > 0) wrong.push("the first up failed");
  const kept = stack.resources.find(({ urn }) => nameOf(urn) === "kept")?.id ?? "";
  if (command !== "up") {
    // One registration of them is carried out when nobody looks any more.
    service.fault({ operation: "register", kind: "late-commit", delayMs: 15_000 });
    await world.up(after, { parallel: 1 });
    await time.pass(5_000);
    if (command === "refresh") service.remove(kept);
  }
  const planted = service.fault({ ...KINDS[kind], operation, times } as Fault);
  const run = (): Promise<Problems> => (command === "up" ? world.up(after) : world[command]());
  await run();
  service.clearFaults();
  if (planted.hits === 0) wrong.push("nothing met the fault");

  const differences = () => {
    // Adopted, or still somebody else's. One that is in doubt is spared, and named.
    const left = world.strangers().filter((each) => {
      const isSpared = STOPS.includes(habit) && world.warnings.some((warning) => names(warning, each));
      return each === adopted || (command === "destroy" && isSpared);
    });
    return command === "destroy"
      ? world.differences([], [...others, ...left])
      : world.differences(after, others);
  };
  let problems: Problems = [];
  for (let runs = 0; runs < 2 && (runs === 0 || problems.length > 0 || differences().length > 0); runs++) {
    let program: readonly Declared[] = after;
    problems = command === "refresh" && runs > 0 ? await world.up(after) : await run();
    for (let way = await wayOn(world, program, { problems, others }); way !== undefined; ) {
      if (!STOPS.includes(habit)) wrong.push(`a stop: ${way.stop}`);
      ({ program } = way);
      problems = await world.up(program);
      way = await wayOn(world, program, { problems, others });
    }
  }
  if (command === "destroy" && habit === "that lists a part")
    problems = problems.filter((problem) => !problem.includes("STILL_PENDING"));
  else wrong.push(...differences());
  wrong.push(...problems);
  if (command !== "destroy") {
    const changes = service.changes.length;
    wrong.push(...(await world.up(after)));
    wrong.push(...service.changes.slice(changes).map((change) => `a change for nothing: ${change}`));
  }
  if (command === "up" && !stack.resources.some(({ id }) => id === kept))
    wrong.push("what nobody touched was replaced");
  return wrong;
}

describe.each(Object.keys(HABITS))("at a service %s", (habit) => {
  test.each(Object.keys(OPERATIONS) as Command[])(
    "%s recovers from every fault of every operation",
    async (command) => {
      const failed: Record<string, string[]> = {};
      for (const cell of cellsOf(command)) {
        // Elsewhere, what a registration meets is what differs.
        if (
          habit !== "that is exact" &&
          (cell.times > 1 || (command === "up" && cell.operation !== "register"))
        )
          continue;
        const wrong = await play(cell, habit);
        if (wrong.length > 0) failed[`${cell.operation}, ${cell.kind}, ${cell.times}`] = wrong;
      }
      expect(failed).toEqual({});
    },
  );
});
