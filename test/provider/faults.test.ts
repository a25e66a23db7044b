import { FAULT_KINDS } from "../../src/emulator";
import { type Cell, cells, kinds, type Result, runAll, usualCells } from "./faultMatrix";
import { inProcess } from "./inProcess";
import { Plugin } from "./plugin";

/** The kinds that each operation meets once behind a real plugin, a process: they end in every way that its gRPC carries. */
const atPlugin = [
  "refuse",
  "hang before it took effect",
  "hang after it took effect",
  "500",
  "commit after our time-out",
];
const needPlugin = new Set(usualCells.filter(({ kind, times }) => times === 1 && atPlugin.includes(kind)));

describe("the fault matrix", () => {
  let results: Map<Cell, Promise<Result>>;
  let plugin: Plugin;

  beforeAll(async () => {
    plugin = await Plugin.start();
    const others = cells.filter((cell) => !needPlugin.has(cell));
    results = new Map([
      ...runAll([...needPlugin], { door: plugin, atOnce: 8 }),
      ...runAll(others, { door: inProcess, atOnce: 24 }),
    ]);
  });
  afterAll(() => plugin.stop());

  it("the fault matrix has every kind of fault", () => {
    expect(new Set(Object.values(kinds).map(({ kind }) => kind))).toEqual(new Set(FAULT_KINDS));
  });

  it.each(
    cells.map((cell) => [cell.command, cell.operation, cell.kind, cell.times, cell.service, cell] as const),
  )(
    "%s recovers when %s meets: %s (%d times, at %s)",
    async (_command, _operation, _kind, _times, _service, cell) => {
      const { hits, ...result } = (await results.get(cell)) ?? { hits: 0 };
      expect(hits).toBeGreaterThan(0);
      expect(result).toEqual({ problems: [], wrong: [], idle: [] });
    },
    300_000,
  );
});
