import { isWholeUp, readHistory, wasUnderWay } from "../../src/settlement/history";

const day = Date.UTC(2026, 0, 1);
const text = (seconds: number) => new Date(day + seconds * 1_000).toISOString().replace(".000", "");
const entry = (seconds: number, more: object = {}) => ({
  kind: "update",
  result: "succeeded",
  startTime: text(seconds),
  endTime: text(seconds + 10),
  environment: {},
  ...more,
});

/** A stack with so many runs, one each minute, the last one first. Returns what is read, and which pages. */
async function read(runs: readonly object[], since: number) {
  const pages: string[] = [];
  const print = async (args: readonly string[]) => {
    expect(args.slice(0, 3)).toEqual(["stack", "history", "--json"]);
    const [size, page] = ["--page-size", "--page"].map((flag) => Number(args[args.indexOf(flag) + 1]));
    if (size === undefined || page === undefined) throw new Error("no page");
    pages.push(String(page));
    return runs.slice((page - 1) * size, page * size);
  };
  return { runs: await readHistory(print, since), pages };
}
const minutes = (count: number) => Array.from({ length: count }, (_, at) => entry((count - at) * 60));

test("the history is read back to the last run that had ended before the moment, over as many pages as that takes", async () => {
  const { runs, pages } = await read(minutes(200), day + 60 * 60_000);
  expect(runs?.some(({ start }) => start === day + 60 * 60_000)).toBe(true);
  expect(runs?.some(({ end }) => end < day + 60 * 60_000 - 1_000)).toBe(true);
  expect(pages).toEqual(["1", "2", "3"]);
});

test("the history of a recent moment takes one page", async () => {
  expect((await read(minutes(200), day + 199 * 60_000)).pages).toEqual(["1"]);
});

test("a history that ends with a whole page is read to its end", async () => {
  expect((await read(minutes(100), 0)).runs).toHaveLength(100);
});

test("a long history is read as far back as 2,000 runs", async () => {
  const { runs, pages } = await read(minutes(2_500), 0);
  expect(runs).toHaveLength(2_000);
  expect(pages).toHaveLength(40);
});

test("a long history without an up that recorded everything cannot be read", async () => {
  const failed = minutes(2_500).map((each) => ({ ...each, result: "failed" }));
  expect((await read(failed, 0)).runs).toBeUndefined();
});

test("a run without a readable time makes the history unreadable", async () => {
  expect((await read([entry(0, { endTime: "soon" })], 0)).runs).toBeUndefined();
});

test("a run that is under way is left out", async () => {
  expect(
    (await read([entry(60, { result: "in-progress", endTime: undefined }), entry(0)], 0)).runs,
  ).toHaveLength(1);
});

test.each([
  [{}, true],
  [{ result: "failed" }, false],
  [{ kind: "refresh" }, false],
  [{ kind: "destroy" }, false],
  [{ environment: { "pulumi.flag.target": "x" } }, false],
  [{ environment: { "pulumi.flag.exclude": "x" } }, false],
  [{ environment: { "pulumi.flag.target-replace": "x" } }, false],
  [{ environment: { "pulumi.env.PULUMI_OPTION_TARGET": "set" } }, false],
  [{ environment: { "pulumi.env.PULUMI_OPTION_EXCLUDE": "set" } }, false],
  [{ environment: { "pulumi.env.PULUMI_OPTION_TARGET_REPLACE": "set" } }, false],
  [
    { environment: { "pulumi.env.PULUMI_OPTION_TARGET_DEPENDENTS": "true", "pulumi.flag.yes": "true" } },
    true,
  ],
  [{ environment: { "pulumi.flag.refresh": "true" } }, true],
  [{ environment: undefined }, true],
])("that a run with %j is a whole up is %s", async (more, whole) => {
  const { runs = [] } = await read([entry(0, more)], 0);
  expect(runs.map(isWholeUp)).toEqual([whole]);
});

test.each([
  [-1, false],
  [0, true],
  [5_000, true],
  [11_000, true],
  [11_001, false],
])("that a run of ten seconds was under way %d ms after its start is %s", async (offset, underWay) => {
  const { runs = [] } = await read([entry(0)], 0);
  expect(runs.map((run) => wasUnderWay(run, day + offset))).toEqual([underWay]);
});
