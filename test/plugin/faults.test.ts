import { type Cell, cells, runAll } from "../endpoint/faultMatrix";
import { NativePlugin } from "./nativePlugin";

/** The library meets all of them. Lost registrations are what the plugin has to carry most for. */
const chosen = cells.filter(({ operation }) => operation === "register");
const settled = { met: true, problems: [], wrong: [], idle: [] };

test("the native door recovers from each kind of fault, as the library does", async () => {
  // The service, the plugin and the engine share this process here.
  const results = runAll(chosen, { door: new NativePlugin(), atOnce: 12 });
  const outcomes = [...results].map(async ([cell, result]): Promise<[Cell, object]> => {
    const { hits, ...rest } = await result;
    return [cell, { met: hits > 0, ...rest }];
  });
  const expected = chosen.map((cell) => [cell, settled]);
  expect(await Promise.all(outcomes)).toEqual(expected);
}, 600_000);
