import type * as node from "../../../src/receiver/adapters/node";
import type * as support from "../support";

/** Loads the modules a second time, because a receiver logs each warning once per process. */
export function isolatedModules(): typeof support & typeof node {
  const loaded: (typeof support & typeof node)[] = [];
  jest.isolateModules(() => {
    loaded.push({
      ...jest.requireActual<typeof support>("../support"),
      ...jest.requireActual<typeof node>("../../../src/receiver/adapters/node"),
    });
  });
  const [modules] = loaded;
  if (modules === undefined) throw new Error("The modules were not loaded.");
  return modules;
}
