import { openAccount } from "../../src/cli/service";
import { TemporaryEndpoint } from "../../src/cli/temporaryEndpoint";
import { DEFAULT_API_KEY } from "../../src/emulator";
import { inputs, VerbsWorld } from "../settlement/verbsWorld";

let world: VerbsWorld;
const home = process.env.PULUMI_HOME;
beforeEach(async () => {
  world = await VerbsWorld.start();
  process.env.PULUMI_HOME = world.home;
});
afterEach(() => {
  if (home === undefined) delete process.env.PULUMI_HOME;
  else process.env.PULUMI_HOME = home;
  return world.close();
});

test("up does not take what listen has registered for what a killed up did not, so listen does not delete a stack's endpoint", async () => {
  const declared = { ...inputs, type: "development" } as const;
  // Killed before the request arrived.
  world.service.remove(await world.lose({}, { args: declared, thenMs: 0 }));
  const environment = { WEBHOOKS_BASE_URL: world.service.url, WEBHOOKS_API_KEY: DEFAULT_API_KEY };
  const account = openAccount(() => undefined, environment);
  const { clock } = world;
  const temporary = new TemporaryEndpoint({ account, url: declared.url, clock, note: () => {} });
  const id = await temporary.register();
  const registered = await world.register({}, declared);
  expect(registered.id).not.toBe(id);
  await temporary.remove();
  expect(world.ids()).toEqual([registered.id]);
});
