import { fingerprintOfKey } from "../../src/endpoint/origin";
import { codeOf, inputs, VerbsWorld } from "./verbsWorld";

/** What outsiders found about one url and type in two accounts, each as they reproduced it. */
let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start({ accounts: { "key-a": "a", "key-b": "b" } });
});
afterEach(() => world.close());

const a = { apiKey: "key-a", provider: "a" };
const add = () => world.service.add({ ...inputs }, "a").id;

describe("on another machine, what another provider registered in another account explains no second endpoint in this one:", () => {
  test("an interrupted operation", async () => {
    world.interrupt("a", inputs, { provider: "a" });
    world.interrupt("b", inputs, { provider: "b" });
    const made = [add(), add()];
    world.clock.skip(60_000);
    expect(await codeOf(world.register({ ...a, ...world.machine("elsewhere") }))).toBe(
      "REGISTRATION_IN_DOUBT",
    );
    expect(world.ids("a")).toEqual(made);
  });

  test("a pending resource", async () => {
    const { id, properties } = await world.leavePending("hang-before", a);
    const ofB = { ...properties, account: fingerprintOfKey("key-b"), provider: "b" };
    world.record("a", id, { provider: "a", inputs: { ...inputs }, outputs: { ...properties } });
    world.record("b", "pending:b", { provider: "b", inputs: { ...inputs }, outputs: ofB });
    const made = [add(), add()];
    world.ended("failed");
    world.clock.skip(60_000);
    const up = world.plugin({ ...a, ...world.machine("elsewhere") });
    await up.diff(id, properties, inputs);
    expect(await codeOf(up.create(inputs))).toBe("REGISTRATION_IN_DOUBT");
    await up.delete(id, properties);
    expect(world.ids("a")).toEqual(made);
  });
});
