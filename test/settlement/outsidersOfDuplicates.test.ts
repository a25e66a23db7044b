import { codeOf, inputs, otherInputs, type PluginOptions, stateOf, VerbsWorld } from "./verbsWorld";

/** What outsiders found about warnings and refusals of duplicates, each as they reproduced it. */
let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

describe("while the service's list lags, what was registered a moment ago", () => {
  const beside: [string, PluginOptions][] = [
    ["by another provider of the run", { run: "up", provider: "two" }],
    ["by another stack on this machine", { environment: { PULUMI_BACKEND_URL: "file:///other" } }],
  ];
  const declared = { ...inputs, ifExists: "fail" } as const;
  const listsNothing = () =>
    world.service.fault({ operation: "list", kind: "status", status: 200, body: "[]", times: 100 });

  test.each(beside)("%s is refused with ifExists: fail", async (_, options) => {
    const up = world.plugin({ run: "up" });
    await up.check({}, { ...otherInputs });
    listsNothing();
    await world.register(options);
    expect(await codeOf(up.create(declared))).toBe("ENDPOINT_EXISTS");
    expect((await up.check({}, { ...declared })).failures).toHaveLength(1);
  });

  test.each(beside)("%s and is deleted since is not named", async (_, options) => {
    const up = world.plugin({ run: "up" });
    await up.check({}, { ...otherInputs });
    listsNothing();
    const { id, outs } = await world.register(options);
    await world.plugin({ ...options, run: "destroy" }).delete(id, stateOf({ outs }));
    expect((await up.create(declared)).id).not.toBe(id);
  });
});
