import { read } from "../package/pages";

const NotRun: new (
  config: object,
) => { onRunComplete(contexts: Iterable<object>): void } = require("../notRun");

/** Returns what a run of these projects says at its end. */
function saidBy(
  projects: readonly string[],
  { patterns = [] as string[], testNamePattern = "" } = {},
): string {
  const write = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  const contexts = projects.map((name) => ({ config: { displayName: { name } } }));
  new NotRun({ testPathPatterns: { patterns }, testNamePattern, onlyChanged: false }).onRunComplete(contexts);
  const said = write.mock.calls.map(([text]) => text).join("");
  write.mockRestore();
  return said;
}

const { scripts } = JSON.parse(read("package.json"));
const CHECKING = ["fuzz", "kills", "signatures", "durability", "bench", "rehearse", "check"];

test("a run of all tests says at its end which commands check more, and each of them exists", () => {
  const named = [...saidBy(["fast", "rest"]).matchAll(/npm run (\S+)/g)].map(([, name]) => name);
  expect(named).toEqual(CHECKING);
  expect(CHECKING.filter((name) => !(name in scripts))).toEqual([]);
});

test("a run of the fast tests says that `npm test` runs the others, and a run of chosen ones says nothing", () => {
  expect(saidBy(["fast"])).toContain("npm test ");
  expect(saidBy(["fast"])).not.toContain("npm run");
  expect(saidBy(["fast", "rest"], { patterns: ["test/client"] })).toBe("");
  expect(saidBy(["fast"], { testNamePattern: "a title" })).toBe("");
});
