import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EndpointState } from "../../src/endpoint/types";
import type { Resource } from "../../src/settlement/deployment";
import { TYPE_TOKEN } from "../../src/shared/permanent";
import { failure, inputs, stateOf, VerbsWorld } from "./verbsWorld";

/** What an outsider found: the stacks of one program all adopted one endpoint, and the first one that was destroyed deleted it. */
let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

/** Has the project a second stack, `prod`, whose state has a resource. */
function alsoInProd(id: string, outputs: object, more: Partial<Resource> = {}): void {
  const urnOf = (type: string, name: string) => `urn:pulumi:prod::test::${type}::${name}`;
  const root = { urn: urnOf("pulumi:pulumi:Stack", "test-prod"), type: "pulumi:pulumi:Stack" };
  const jobs = {
    urn: urnOf(TYPE_TOKEN, "jobs"),
    type: TYPE_TOKEN,
    id,
    inputs: { ...inputs },
    outputs,
    ...more,
  };
  const prod = { version: 3, deployment: { resources: [root, jobs] } };
  writeFileSync(join(world.folder, "prod.json"), JSON.stringify(prod));
  world.printState = 'case "$4" in prod) cat prod.json;; broken) exit 1;; *) cat state.json;; esac';
  world.printStacks = `echo '[{"name": "dev"}, {"name": "prod"}]'`;
}

const adopting = (id: string) => world.plugin().create({ ...inputs, adoptId: id });
const adopted = async () => {
  const id = world.stranger();
  const state = stateOf(await adopting(id));
  world.clock.skip(60_000);
  return { id, state };
};
const variants: [string, (state: EndpointState) => object][] = [
  ["as it was recorded", (state) => state],
  ["with another key of the account", (state) => ({ ...state, account: "ffffff" })],
  ["before a refresh told its time", (state) => ({ ...state, createdAt: null })],
];

test.each(variants)("up does not adopt what another stack of the project has, %s", async (_how, change) => {
  const { id, state } = await adopted();
  alsoInProd(id, change(state));
  const { message } = await failure(adopting(id));
  expect(message).toContain(`cannot adopt endpoint ${id}: jobs in test/prod already has it`);
  expect(message).toMatch(/`pulumi state delete urn:pulumi:prod::test::.*::jobs --stack prod`/);
  expect(message).toContain("ADOPT_TAKEN");
});

test("up adopts what another service gave the same id at the same time", async () => {
  const { id, state } = await adopted();
  const elsewhere = {
    url: "https://hooks.example.com/another",
    baseUrl: "https://staging.example.com",
    account: "ffffff",
  };
  alsoInProd(id, { ...state, ...elsewhere }, { inputs: { ...inputs, url: elsewhere.url } });
  expect((await adopting(id)).id).toBe(id);
});

test("up says so if it cannot list the other stacks", async () => {
  const { id } = await adopted();
  expect((await adopting(id)).id).toBe(id);
  expect(world.warnings.join("\n")).toContain(
    `adopts ${id} without having read the state of the project's other`,
  );
});

test("up adopts what another stack only reads, and what another account gave the same id", async () => {
  const { id, state } = await adopted();
  alsoInProd(id, state, { external: true });
  expect((await adopting(id)).id).toBe(id);
  alsoInProd(id, { ...state, account: "ffffff", createdAt: "2020-01-31T12:00:00.000Z" });
  expect((await adopting(id)).id).toBe(id);
});

test("up adopts what only its own stack has, and says which stack it could not read", async () => {
  const { id, state } = await adopted();
  world.record("old", id, { inputs: { ...inputs }, outputs: { ...state }, delete: true });
  alsoInProd("wh_other", state);
  world.printStacks = `echo '[{"name": "dev"}, {"name": "prod"}, {"name": "broken"}]'`;
  expect((await adopting(id)).id).toBe(id);
  expect(world.warnings.join("\n")).toContain(`adopts ${id} without having read the state of broken`);
});

describe("adoptId together with a changed url", () => {
  const elsewhere = { ...inputs, url: "https://hooks.example.com/elsewhere" };
  const recorded = async () => {
    const { id, outs } = await world.plugin().create({ ...inputs });
    return { id, state: stateOf({ outs }) };
  };

  /** As the engine plans an `up`. */
  const planned = async (id: string, state: EndpointState, [olds, news]: [object, object]) => {
    const run = world.plugin();
    await run.check({ ...inputs, ...olds }, { ...elsewhere, ...news });
    return run.diff(id, state, { ...elsewhere, ...news });
  };

  test("up refuses a new one before anything changes: it would register a second endpoint with that url", async () => {
    const { id, state } = await recorded();
    const adoptId = world.service.add(elsewhere).id;
    const { message } = await failure(planned(id, state, [{}, { adoptId }]));
    expect(message).toContain(`cannot adopt endpoint ${adoptId}: the resource has ${id}`);
    expect(message).toMatch(/another name[\s\S]*ADOPT_TOO_LATE/);
    expect(world.ids()).toEqual([id, adoptId]);
  });

  test("up takes the adoptId of an earlier adoption for what it is, also when the url is put back to that of its endpoint", async () => {
    const { id, state } = await recorded();
    const kept = world.service.add(elsewhere).id;
    for (const adoptId of [id, kept, "wh_gone"])
      expect(await planned(id, state, [{ adoptId }, { adoptId }])).toMatchObject({ replaces: ["url"] });
    expect(await planned(id, state, [{}, { adoptId: "wh_gone" }])).toMatchObject({ replaces: ["url"] });
  });

  test("up does not advise adoptId to a resource that has an endpoint", async () => {
    const { id, state } = await recorded();
    const other = world.service.add(elsewhere);
    const run = world.plugin();
    await run.diff(id, state, { ...elsewhere, ifExists: "fail" });
    const { message } = await failure(run.create({ ...elsewhere, ifExists: "fail" }));
    expect(message).toContain(`another name, without an alias, and set adoptId: "${other.id}"`);
    await run.diff(id, state, { ...elsewhere });
    await run.create({ ...elsewhere });
    expect(world.warnings.join("\n")).toMatch(
      new RegExp(`already has[\\s\\S]*${other.id}.*\\\`npx pulumi-webhook-endpoints delete ${other.id}\\\``),
    );
    expect(world.warnings.join("\n")).not.toContain("adoptId");
  });
});
