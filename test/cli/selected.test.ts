import { readStacks } from "../../src/cli/inventory/stacks";
import { Pulumi } from "../../src/cli/pulumi";
import type { Context } from "../../src/cli/run";
import { backend } from "./backend";

test.each([
  [undefined, "dev"],
  ["dev", "dev"],
  ["acme/dev", "dev"],
  ["acme/shop/dev", "dev"],
  ["tester/dev", "tester/dev"],
  ["tester/shop/dev", "tester/dev"],
  ["prod", "prod"],
])("of stacks with one name, --stack %s is %s alone", async (given, selected) => {
  const runPulumi = backend({ baseUrl: "", own: { dev: {}, "tester/dev": {}, prod: {} } });
  const output = { during: (_: unknown, work: Promise<unknown>) => work };
  const context = { output, pulumi: new Pulumi(runPulumi, given) } as unknown as Context;
  const { known } = await readStacks(context, { all: false });
  expect(known).toHaveLength(3);
  expect(known.filter(({ isSelected }) => isSelected).map(({ name }) => name)).toEqual([selected]);
});
