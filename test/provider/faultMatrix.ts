import type { EmulatedEndpoint, Misbehaviour, Operation } from "../../src/emulator";
import type { PendingState } from "../../src/provider/state";
import { isPendingId } from "../../src/provider/identity";
import { sameUrl } from "../../src/shared/url";
import { inPages, normalizing } from "../emulator/odd";
import { compressed, gone, minutes, timeless, wrapped } from "./disguise";
import { type Declared, nameOf, type Problems } from "./engineModel";
import { type Door, World, type WorldOptions } from "./world";

/** How many times faster time runs. */
const speed = 20;
/** Delays within and beyond an operation's timeout of ten seconds, and within the window of twenty, in the emulator's milliseconds. */
const late = 3_000 / speed;
const tooLate = 15_000 / speed;

export const kinds: Readonly<Record<string, Misbehaviour>> = {
  refuse: { kind: "refuse" },
  "reset before it took effect": { kind: "reset-before" },
  "reset after it took effect": { kind: "reset-after" },
  "hang before it took effect": { kind: "hang-before" },
  "hang after it took effect": { kind: "hang-after" },
  "delayed answer": { kind: "delay", delayMs: late },
  "answer after our time-out": { kind: "delay", delayMs: tooLate },
  "late commit": { kind: "late-commit", delayMs: late },
  "commit after our time-out": { kind: "late-commit", delayMs: tooLate },
  // One status of each class that `judge` tells apart; a test of the client plays the others.
  ...Object.fromEntries(
    [302, 401, 404, 408, 409, 429, 500, 501].map((status) => [
      `${status}`,
      { kind: "status", status } as const,
    ]),
  ),
  ...Object.fromEntries(
    [303, 408, 500, 503].map((status) => [
      `${status} after it took effect`,
      { kind: "status", status, effect: true } as const,
    ]),
  ),
  "429 with Retry-After": { kind: "status", status: 429, headers: { "retry-after": "2" } },
  "503 with Retry-After": { kind: "status", status: 503, headers: { "retry-after": "2" } },
  "503 with Retry-After after it took effect": {
    kind: "status",
    status: 503,
    headers: { "retry-after": "2" },
    effect: true,
  },
  "another's JSON": { kind: "status", status: 200, body: { ok: true }, effect: true },
  "a website": { kind: "status", status: 200, body: "<html></html>", effect: true },
  truncated: { kind: "truncated" },
  malformed: { kind: "malformed" },
  empty: { kind: "empty" },
  oversized: { kind: "oversized" },
};

/** The kinds that leave it in doubt whether a request took effect, and some that do not. */
const doubtful = [
  "reset after it took effect",
  "hang before it took effect",
  "hang after it took effect",
  "answer after our time-out",
  "late commit",
  "commit after our time-out",
  "409",
  "429 with Retry-After",
  "500 after it took effect",
  "a website",
  "truncated",
  "empty",
];

/** The commands, with the operations that each of them uses. */
const commands = {
  up: ["register", "list", "get", "delete"],
  refresh: ["list", "get"],
  destroy: ["list", "delete"],
} as const satisfies Record<string, readonly Operation[]>;
const times = [1, Number.POSITIVE_INFINITY];

const usual = "the emulator as it is";
/** The services that the faults happen to: besides the emulator as it is, some that answer in other ways. */
const services = {
  [usual]: {},
  "a service that spells, wraps and compresses": {
    emulator: { answer: normalizing },
    answers: [gone, wrapped, compressed],
  },
  "a service that counts whole minutes": { answers: [minutes] },
  "a service that tells no time": { answers: [timeless] },
  "a service that lists a part": { emulator: { answer: inPages(4, { shape: "data", sign: "nextCursor" }) } },
  // Each provider of a run is a process of its own. Two equal resources have different ones.
  "one account of two providers": { providers: ["second"], sameAccount: ["second"] },
  "two accounts whose ids count for each and are used again": { providers: ["second"], reusesIds: true },
} as const satisfies Record<string, Partial<WorldOptions>>;
/** The services with a second provider. */
const withSecond: readonly string[] = [
  "one account of two providers",
  "two accounts whose ids count for each and are used again",
] satisfies (keyof typeof services)[];
/** The faults that a second provider meets: it takes minutes to combine more. */
const metBySecond = ["reset after it took effect", "hang before it took effect", "commit after our time-out"];

const names = Object.keys(services) as (keyof typeof services)[];

/** One fault, the command that meets it, and the service that it happens to. */
export interface Cell {
  readonly command: keyof typeof commands;
  readonly operation: Operation;
  readonly kind: string;
  readonly times: number;
  readonly service: keyof typeof services;
}

/** Every fault at the emulator as it is; at each other service, once, those that leave something in doubt. What only reads has no effect. */
export const cells: readonly Cell[] = (Object.keys(commands) as Cell["command"][]).flatMap((command) =>
  commands[command].flatMap((operation) =>
    kindsOf(operation).flatMap((kind) => {
      const cell = { command, operation, kind, times: 1, service: usual } as const;
      const elsewhere = names.map((service): Cell => ({ ...cell, service }));
      return [...times.map((count) => ({ ...cell, times: count })), ...elsewhere.filter(leavesDoubt)];
    }),
  ),
);

function kindsOf(operation: Operation): string[] {
  return Object.keys(kinds).filter((kind) => !isRead(operation) || !/after it took effect|commit/.test(kind));
}

function isRead(operation: Operation): boolean {
  return operation === "list" || operation === "get";
}

function leavesDoubt({ command, operation, kind, service }: Cell): boolean {
  if (service === usual) return false;
  if (withSecond.includes(service))
    return (
      metBySecond.includes(kind) && (command !== "up" || operation === "register") && operation !== "get"
    );
  if (command === "up" && operation === "register") return doubtful.includes(kind);
  // What a partial list leaves in doubt, only a person can settle, and only in an `up`.
  const met = [isRead(operation) ? "reset before it took effect" : "reset after it took effect", "empty"];
  return service !== "a service that lists a part" && met.includes(kind);
}

/** The cells at the emulator as it is. */
export const usualCells = cells.filter(({ service }) => service === usual);

const endpoint = (name: string, path: string, more: object = {}): Declared => ({
  name,
  args: { url: `https://Hooks.example.com/${path}`, type: "production", ...more },
});

export interface Result {
  /** Requests that met the fault. */
  readonly hits: number;
  /** The problems of the undisturbed runs. */
  readonly problems: Problems;
  readonly wrong: readonly string[];
  /** The requests of one more `up` that changed the service. */
  readonly idle: readonly string[];
}

/** Runs one cell: a stack, a command with the fault, and then at most two without it. */
async function run({ operation, kind, command, times: count, service }: Cell, plugin: Door): Promise<Result> {
  const world = await World.start({ plugin: async () => plugin, speed, ...services[service] });
  const { emulator, stack } = world;
  try {
    const other = (path: string) =>
      emulator.add({ url: `https://hooks.example.com/${path}`, type: "production" });
    const others = [other("new"), other("twice")];
    const adopted = other("adopted");
    const before = [endpoint("kept", "kept"), endpoint("changed", "old"), endpoint("dropped", "dropped")];
    const after = [
      endpoint("kept", "kept"),
      endpoint("changed", "new"),
      endpoint("added", "added", { ip: "192.0.2.1" }),
      endpoint("one", "twice"),
      { ...endpoint("other", "twice"), ...(withSecond.includes(service) ? { provider: "second" } : {}) },
      endpoint("adopting", "adopted", { adoptId: adopted.id }),
    ];
    await stack.up(before);
    const idOfKept = stack.resources.find(({ urn }) => nameOf(urn) === "kept")?.id;
    let inDoubt: string | undefined;
    if (command !== "up") {
      inDoubt = await leaveOnePending(world, after);
      if (command === "refresh" && idOfKept !== undefined) emulator.remove(idOfKept);
    }

    const misbehaviour = kinds[kind];
    if (misbehaviour === undefined) throw new Error(kind);
    const planted = emulator.fault({ ...misbehaviour, operation, times: count });
    await execute(world, command, after);
    emulator.clearFaults();
    // The service must have carried out every request.
    if (misbehaviour.kind === "late-commit") await world.clock.sleep((tooLate + 200) * speed);

    const problems: string[] = [];
    const wrong = () => {
      if (command !== "destroy") return world.differences(after, others);
      // An endpoint that was never adopted still belongs to somebody else. One that is in doubt is spared, and named.
      const rest = emulator
        .endpoints()
        .filter(
          ({ url }) => url === adopted.url || (service === "a service that tells no time" && url === inDoubt),
        );
      return world.differences([], [...others, ...rest]);
    };
    for (let runs = 0; runs < 2 && (runs === 0 || wrong().length > 0); runs++) {
      const again = command === "refresh" && runs > 0 ? "up" : command;
      problems.push(...(await execute(world, again, after)));
    }
    if (service === "a service that lists a part" || service === "a service that tells no time") {
      const left = problems
        .splice(0)
        .filter((problem) => !/STILL_PENDING|REGISTRATION_IN_DOUBT/.test(problem));
      problems.push(...left, ...(command === "destroy" ? [] : await settleByHand(world, after, others)));
    }
    if (command === "up" && !stack.resources.some(({ id }) => id === idOfKept))
      problems.push("an endpoint that nobody touched was replaced");
    emulator.clearRequests();
    if (command !== "destroy") problems.push(...(await stack.up(after)));
    const idle = emulator.requests
      .filter(({ method }) => method !== "GET")
      .map(({ method, path }) => `${method} ${path}`);
    return { hits: planted.hits, problems, wrong: wrong(), idle };
  } finally {
    await world.close();
  }
}

/**
 * Leaves a registration whose answer is lost, and which the service completes when nobody looks any more. Returns its URL: which one
 * it is, the order decides in which the requests arrive.
 */
async function leaveOnePending({ emulator, stack }: World, program: readonly Declared[]): Promise<string> {
  emulator.fault({ operation: "register", kind: "hang-before", after: 1 });
  await stack.up(program);
  const pending = stack.resources.find(({ initErrors }) => initErrors !== undefined);
  if (!pending) throw new Error("no registration is pending");
  const { url, type, ip, pending: sent } = pending.outputs as unknown as PendingState;
  // Dated when it was sent: on a busy machine, the service's clock may already be far ahead.
  const createdAt = new Date(sent.attemptedAt ?? 0).toISOString();
  emulator.add({ url, type, ip: ip ?? undefined, createdAt });
  return url;
}

/**
 * Does what `STILL_PENDING` and `REGISTRATION_IN_DOUBT` say: a person looks for each endpoint at the service, names it in `adoptId`, or else
 * registers another one on purpose. Returns the problems of the runs that follow.
 */
async function settleByHand(
  world: World,
  program: readonly Declared[],
  others: readonly EmulatedEndpoint[],
): Promise<Problems> {
  const { stack } = world;
  const taken = others.map((other) => other.id);
  const decided = program.map((declared) => {
    const { name, args } = declared;
    const resource = stack.resources.find(({ urn, delete: gone }) => nameOf(urn) === name && gone !== true);
    if (resource !== undefined && !isPendingId(resource.id)) return declared;
    const made = world
      .strangers()
      .find(({ id, url, ip }) => !taken.includes(id) && sameUrl(url, String(args.url)) && ip === args.ip);
    if (made) taken.push(made.id);
    return { ...declared, args: { ...args, ...(made ? { adoptId: made.id } : { ifExists: "register" }) } };
  });
  return [...(await stack.up(decided)), ...(await stack.up(program))];
}

function execute(world: World, command: Cell["command"], program: readonly Declared[]): Promise<Problems> {
  return command === "up" ? world.stack.up(program) : world.stack[command]();
}

/**
 * Runs these cells and returns the result of each.
 *
 * @param atOnce how many run at once. Most of them wait.
 */
export function runAll(
  chosen: readonly Cell[],
  { door, atOnce }: { readonly door: Door; readonly atOnce: number },
): Map<Cell, Promise<Result>> {
  const results = new Map<Cell, Promise<Result>>();
  const waiting = [...chosen];
  const start = new Map<Cell, () => void>();
  for (const cell of chosen) {
    const turn = new Promise<void>((resolve) => start.set(cell, resolve));
    const result = turn.then(() => run(cell, door));
    result.catch(() => {}).finally(next);
    results.set(cell, result);
  }
  function next() {
    const cell = waiting.shift();
    if (cell) start.get(cell)?.();
  }
  for (let count = 0; count < atOnce; count++) next();
  return results;
}
