import { Output } from "../../src/cli/output";
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
