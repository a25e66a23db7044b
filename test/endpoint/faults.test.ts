import { FAULT_KINDS } from "../../src/emulator";
import { type Cell, cells, kinds, type Result, runAll } from "./faultMatrix";
import { inProcess } from "./inProcess";
import { Plugin } from "./plugin";

/** The cells whose verbs are behind a real plugin, a process: its gRPC carries each kind of answer there. */
const needsPlugin = ({ kind, times, service }: Cell) =>
  times === 1 &&
  service === cells[0]?.service &&
  ["refuse", "hang after it took effect", "commit after our time-out"].includes(kind);

describe("the fault matrix", () => {
  let results: Map<Cell, Promise<Result>>;
  let plugin: Plugin;

  beforeAll(async () => {
    plugin = await Plugin.start();
    results = new Map([
      ...runAll(cells.filter(needsPlugin), { door: plugin, atOnce: 8 }),
      ...runAll(
        cells.filter((cell) => !needsPlugin(cell)),
        { door: inProcess, atOnce: 24 },
      ),
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
