import { type Cell, runAll, usualCells } from "../provider/faultMatrix";
import { NativePlugin } from "./nativePlugin";

/** The library meets all of them. Here are those in which a registration is lost, late or refused again and again. */
const chosen = usualCells.filter(
  ({ operation, times, kind }) => operation === "register" && (times === 1 || /^(429|503)/.test(kind)),
);
const settled = { met: true, problems: [], wrong: [], idle: [] };

test("the native door recovers from each kind of fault, as the library does", async () => {
  const door = new NativePlugin();
  const results = runAll(chosen, { door, atOnce: 12 });
  const outcomes = [...results].map(async ([cell, result]): Promise<[Cell, object]> => {
    const { hits, ...rest } = await result;
    return [cell, { met: hits > 0, ...rest }];
  });
  const expected = chosen.map((cell) => [cell, settled]);
  const met = await Promise.all(outcomes);
  expect(met).toEqual(expected);
}, 600_000);
