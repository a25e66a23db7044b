import * as pulumi from "@pulumi/pulumi";
import { ReceiverValidation } from "../../src";
import { comparable } from "../../src/validation/triggers";
import { secret } from "../receiver/support";

/** What the program passed to the engine as triggers, by the names of its resources. */
const passed = new Map<string, unknown>();

beforeAll(() =>
  pulumi.runtime.setMocks({
    newResource({ name, inputs }) {
      passed.set(name, inputs.triggers);
      return { id: name, state: inputs };
    },
    call: ({ inputs }) => inputs,
  }),
);

let declared = 0;

function declare(triggers: unknown): ReceiverValidation {
  declared += 1;
  return new ReceiverValidation(`jobs ${declared}`, {
    url: "https://hooks.example.com/jobs",
    secrets: [secret],
    triggers,
  });
}

/** Returns what the engine gets for triggers. */
async function passedFor(triggers: unknown): Promise<unknown> {
  const { urn } = declare(triggers);
  await new Promise((resolve) => urn.apply(resolve));
  return passed.get(`jobs ${declared}`);
}

const date = new Date("2026-11-22T10:00:00.000Z");

test.each<[string, unknown, unknown]>([
  ["strings, numbers and booleans", ["v1", 0, true], ["v1", 0, true]],
  ["nested lists and maps", { a: [{ b: null }], c: undefined }, { a: [{ b: null }] }],
  ["a date", date, date.toISOString()],
  ["a nested date", { released: [date] }, { released: [date.toISOString()] }],
  [
    "outputs",
    { a: pulumi.output("v1"), b: [pulumi.output(Promise.resolve(["v2"]))] },
    { a: "v1", b: [["v2"]] },
  ],
  ["promises", Promise.resolve([Promise.resolve(date)]), [date.toISOString()]],
  ["an output that returns a date", pulumi.output(1).apply(() => date), date.toISOString()],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ["nothing", undefined, undefined],
])("ReceiverValidation passes %s in triggers to the engine", async (_what, triggers, expected) => {
  expect(await passedFor(triggers)).toEqual(expected);
});

test("a resource and an asset in triggers stay as they are, because Pulumi passes them on itself", () => {
  const passedOn = [declare("v1"), new pulumi.asset.StringAsset("code")];
  const [resource, asset] = comparable(passedOn, "triggers") as unknown[];
  expect(resource).toBe(passedOn[0]);
  expect(asset).toBe(passedOn[1]);
});

class Release {
  constructor(readonly version: string) {}
}

const cycle: { release: unknown[] } = { release: ["t0ken"] };
cycle.release.push(cycle);

const refused: [what: string, triggers: unknown, message: RegExp][] = [
  [
    "a Map",
    new Map([["release", "t0ken"]]),
    /^ReceiverValidation "jobs \d+": triggers is an instance of Map, .* Object\.fromEntries/,
  ],
  ["a Set", { releases: new Set(["t0ken"]) }, /: triggers\.releases is an instance of Set, .* array/],
  ["a function", [() => "t0ken"], /: triggers\[0\] is a function, /],
  ["a symbol", { a: Symbol("t0ken") }, /: triggers\.a is a symbol, /],
  ["a BigInt", { a: { b: 1n } }, /: triggers\.a\.b is a bigint, /],
  ["NaN", [1, Number.NaN], /: triggers\[1\] is NaN, /],
  ["an infinite number", Number.POSITIVE_INFINITY, /: triggers is Infinity, /],
  ["an invalid date", new Date("t0ken"), /: triggers is an invalid Date, /],
  ["a class instance", new Release("t0ken"), /: triggers is an instance of Release, /],
  ["a URL", new URL("https://t0ken.example.com"), /: triggers is an instance of URL, /],
  ["a cycle", cycle, /: triggers\.release\[1\] contains itself, /],
];

test.each(refused)(
  "ReceiverValidation refuses %s in triggers, and does not repeat it",
  (_what, triggers, message) => {
    expect(() => declare(triggers)).toThrow(pulumi.RunError);
    expect(() => declare(triggers)).toThrow(message);
    expect(() => declare(triggers)).not.toThrow(/t0ken/);
  },
);

test("a value in triggers that is known only later is refused without a stack, which would be printed", async () => {
  const later = comparable([Promise.resolve(new Map())], "triggers") as Promise<unknown>[];
  await expect(later[0]).rejects.toMatchObject({
    message: expect.stringMatching(/^triggers\[0\] is an instance of Map/),
    stack: "",
  });
});
