import { mkdirSync } from "node:fs";
import type { FaultKind } from "../../src/emulator";
import type { EndpointState } from "../../src/endpoint/types";
import { inputs, type PluginOptions, VerbsWorld } from "./verbsWorld";

let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

const stackElsewhere = (PULUMI_HOME: string): PluginOptions => ({
  environment: { PULUMI_HOME, PULUMI_BACKEND_URL: "file:///other" },
});

/** What one stack has after an `up`: an endpoint, or a registration that is pending. */
interface Had {
  readonly id?: string;
  readonly pending?: { readonly id: string; readonly state: EndpointState };
  readonly stopped?: string;
}

async function up(options: PluginOptions, had: Had = {}): Promise<Had> {
  if (had.id !== undefined) return had;
  const run = world.plugin(options);
  try {
    if (had.pending) await run.diff(had.pending.id, had.pending.state, inputs);
    return { id: (await run.create(inputs)).id };
  } catch (error) {
    const { id, properties, message } = error as Error & { id?: string; properties?: EndpointState };
    if (id === undefined || properties === undefined) return { ...had, stopped: message };
    return { pending: { id, state: properties }, stopped: message };
  }
}

/** Two stacks declare the same url and type, and the first request meets a fault. Both run again until they have an endpoint. */
async function both(other: PluginOptions, fault: { kind: FaultKind; delayMs?: number }): Promise<Had[]> {
  world.service.fault({ operation: "register", ...fault } as Parameters<typeof world.service.fault>[0]);
  let stacks = await Promise.all([up({}), up(other)]);
  for (let runs = 0; runs < 2 && stacks.some(({ id }) => id === undefined); runs++) {
    const [ours, theirs] = stacks;
    stacks = [await up({}, ours), await up(other, theirs)];
  }
  return stacks;
}

const faults: [FaultKind, number | undefined][] = [
  ["reset-after", undefined],
  ["hang-after", undefined],
  ["reset-before", undefined],
  ["hang-before", undefined],
  ["truncated", undefined],
  ["empty", undefined],
  ["late-commit", 300],
];

test.each(faults)(
  "two stacks on this machine that register the same url and type at once get an endpoint each, though one meets: %s",
  async (kind, delayMs) => {
    const stacks = await both(stackElsewhere(world.home), {
      kind,
      ...(delayMs !== undefined && { delayMs }),
    });
    expect(stacks.map(({ stopped }) => stopped)).toEqual([undefined, undefined]);
    const ids = stacks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(world.ids().sort()).toEqual(ids.sort());
  },
);

test.each(faults.filter(([kind]) => !kind.endsWith("before")))(
  "two stacks on two machines that register the same url and type at once never get one endpoint, though one meets: %s",
  async (kind, delayMs) => {
    const home = `${world.folder}/elsewhere`;
    mkdirSync(home);
    const stacks = await both(stackElsewhere(home), { kind, ...(delayMs !== undefined && { delayMs }) });
    const ids = stacks.flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { stopped } of stacks)
      if (stopped !== undefined) expect(stopped).toMatch(/REGISTRATION_IN_DOUBT/);
    expect(world.ids()).toHaveLength(2);
  },
);

test("a stack waits while another one on this machine looks for its lost endpoint, and then gets its own", async () => {
  const fault = world.service.fault({ operation: "register", kind: "hang-after" });
  const theirs = world.register(stackElsewhere(world.home));
  while (fault.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const made = await world.register();
  expect(world.ids().sort()).toEqual([made.id, (await theirs).id].sort());
  expect(world.infos.join()).toMatch(/waiting for another process/);
});

test("a stack of the same name in another Azure storage account keeps its endpoints, and they are not named as left over", async () => {
  const prod = await world.register({
    environment: { PULUMI_BACKEND_URL: "azblob://state?storage_account=prod" },
  });
  world.clock.skip(60_000);
  const up = world.plugin({ environment: { PULUMI_BACKEND_URL: "azblob://state?storage_account=staging" } });
  await up.check({}, { ...inputs });
  expect((await up.create(inputs)).id).not.toBe(prod.id);
  expect(world.warnings).toEqual([expect.stringMatching(/already has an endpoint with this url/)]);
});
