import { hideKey, hideSecret, hideValue } from "../../src/cli/knownSecrets";
import { Output } from "../../src/cli/oldOutput";
import { printable, printableJson } from "../../src/cli/printable";

const HOSTILE = "https://a/\u001b]0;owned\u0007\u009b31m\u202e\u2028\ud800 \u{e0001}";

function sink(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

it("printable escapes everything that a terminal may obey", () => {
  expect(printable(HOSTILE)).toBe(
    "https://a/\\u001b]0;owned\\u0007\\u009b31m\\u202e\\u2028\\ud800 \\udb40\\udc01",
  );
  expect(printable("https://münchen.example/ü?a=b")).toBe("https://münchen.example/ü?a=b");
});

it("printableJson is the same JSON without control characters", () => {
  const json = printableJson({ url: HOSTILE }, 2);
  expect(JSON.parse(json)).toEqual({ url: HOSTILE });
  expect(json).toMatch(/^[\n\x20-\x7e]*$/);
});

it("with --json, data is one JSON value on standard output, and notes go to standard error", () => {
  const [stdout, stderr] = [sink(true), sink(true)];
  const output = new Output({ json: true, stdout, stderr, environment: {} });
  output.data([{ id: "wh_1" }], () => output.line("for people"));
  output.note("a note");
  output.warn("a warning");
  expect(JSON.parse(stdout.written.join(""))).toEqual([{ id: "wh_1" }]);
  expect(stderr.written).toHaveLength(2);
});

it.each([
  ["a terminal", true, true, {}],
  ["a terminal with NO_COLOR", false, true, { NO_COLOR: "1" }],
  ["a dumb terminal", false, true, { TERM: "dumb" }],
  ["a pipe", false, false, {}],
])("a table on %s has colors: %s", (_where, colored, isTTY, environment) => {
  const stdout = sink(isTTY);
  const output = new Output({ stdout, stderr: sink(isTTY), environment });
  output.table(
    ["id", "url"],
    [
      ["wh_1", HOSTILE],
      ["wh_22", "b"],
    ],
  );
  const lines = stdout.written.join("").split("\n");
  expect(lines[0]?.startsWith("\u001b[1m")).toBe(colored);
  expect(lines.slice(1).join("")).not.toContain("\u001b");
  expect(lines[2]).toBe("wh_22  b");
});

const KEY = Buffer.from(Array.from({ length: 24 }, (_, index) => 200 + index));
const DIGITS = KEY.toString("base64");

it.each([
  ["as it is", `no whsec_${DIGITS}!`, "no whsec_…!"],
  ["without its prefix", `(${DIGITS})`, "(…)"],
  ["in base64url", KEY.toString("base64url"), "…"],
  ["in base64 of all of it", Buffer.from(`whsec_${DIGITS}`).toString("base64"), "…"],
  ["in hexadecimal", KEY.toString("hex"), "…"],
  ["in a url", encodeURIComponent(`whsec_${DIGITS}`), "whsec_…"],
  ["in PHP's JSON", DIGITS.replaceAll("/", "\\/"), "…"],
  [
    "in part",
    `starts with ${DIGITS.slice(0, 8)}, ends with ${DIGITS.slice(-8)}`,
    "starts with …, ends with …",
  ],
])("a known secret is masked %s", (_how, printed, expected) => {
  hideSecret(`whsec_${DIGITS}`);
  const [stdout, stderr] = [sink(false), sink(false)];
  const [output, json] = [new Output({ stdout, stderr }), new Output({ json: true, stdout, stderr })];
  output.line(printed);
  output.note(printed);
  output.warn(printed);
  output.table(["A"], [[printed]]);
  json.record({ deep: [printed] }, "");
  expect([...stdout.written, ...stderr.written]).toEqual([
    `${expected}\n`,
    "A\n",
    `${expected}\n`,
    `${JSON.stringify({ deep: [expected] })}\n`,
    `${expected}\n`,
    `warning: ${expected}\n`,
  ]);
});

it.each([
  ["a-key-of-an-account", "the key is a-key-of-an-account, of an account", "the key is …, of an account"],
  [
    "key",
    "the key of https://a.example.com/x?k=key is not shown",
    "the key of https://a.example.com/x?k=… is not shown",
  ],
  ["k/y", "https://a.example.com/x?k=k%2Fy", "https://a.example.com/x?k=…"],
  ["AbC1/dEf2+GhI3", "https://a.example.com/AbC1/dEf2%2bGhI3", "https://a.example.com/…"],
  ["AbC1/dEf2+JkL4", "twice in a url: AbC1%252FdEf2%252BJkL4", "twice in a url: …"],
  ["AbC1/dEf2+MnO5", String.raw`AbC1\/dEf2\u002BMnO5, AbC1\\\/dEf2+MnO5`, "…, …"],
  ["AbC1/dEf2+PqR6", "AbC1&#x2F;dEf2&plus;PqR6, AbC1&#47;dEf2+PqR6", "…, …"],
  ["müßig-€-😀", "müßig-€-😀, m%C3%BC%c3%9fig-€-%F0%9F%98%80, müßig-€-\\ud83d\\uDE00", "…, …, …"],
  ["http", "http://a.example.com/", "http://a.example.com/"],
  ["development", "development https://a.example.com/development", "development https://a.example.com/…"],
])(
  "a known value is masked as a whole, and one that may be an ordinary word only in urls: %s",
  (value, text, expected) => {
    hideValue(value);
    const stdout = sink(false);
    new Output({ stdout }).line(text);
    expect(stdout.written).toEqual([`${expected}\n`]);
  },
);

it("a part of a long API key is masked, as a service prints one, and a short key's is not", () => {
  hideKey("sk_live_ABCDEFGHIJKLMNOPQRSTUVWXYZ012345");
  hideKey("short-key-of-mine");
  const stdout = sink(false);
  new Output({ stdout }).line("Incorrect key: sk_live_ABCDEFGHIJKLM***Z012345, short-key-of");
  expect(stdout.written).toEqual(["Incorrect key: …***Z012345, short-key-of\n"]);
});

describe("while something takes long", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it("a terminal shows after a second what the command is doing, then every five seconds", async () => {
    const stderr = sink(true);
    const output = new Output({ stdout: sink(true), stderr, environment: { NO_COLOR: "1" } });
    let count = 0;
    let finish = () => {};
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const done = output.during(() => `tried ${++count}`, work);
    jest.advanceTimersByTime(999);
    expect(stderr.written).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(stderr.written).toEqual(["tried 1\n"]);
    jest.advanceTimersByTime(5_000);
    expect(stderr.written).toEqual(["tried 1\n", "tried 2\n"]);
    finish();
    await done;
    jest.advanceTimersByTime(60_000);
    expect(stderr.written).toHaveLength(2);
  });

  it("a pipe gets no progress", async () => {
    const stderr = sink(false);
    const work = new Promise((resolve) => setTimeout(resolve, 10_000));
    const done = new Output({ stdout: sink(false), stderr }).during(() => "working", work);
    jest.advanceTimersByTime(10_000);
    await done;
    expect(stderr.written).toEqual([]);
  });
});
