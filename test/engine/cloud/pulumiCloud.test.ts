import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Switches } from "./cloudStack";
import { PulumiCloud } from "./pulumiCloud";
import { type JournalEntry, replay, type SavedState } from "./replay";

/** A journal that CLI 3.255 wrote, without what a replay does not read, and what the CLI's own code makes of its first entries. */
interface Recorded {
  readonly title: string;
  readonly base: SavedState;
  readonly entries: readonly JournalEntry[];
  /** By the number of entries. */
  readonly states: Readonly<Record<string, SavedState>>;
}
const journals: readonly Recorded[] = JSON.parse(
  readFileSync(join(__dirname, "../fixtures/journals.json"), "utf8"),
);

/** Leaves out what says nothing: the CLI prints neither null nor what is empty. */
const said = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(said);
  if (typeof value !== "object" || value === null) return value;
  const isEmpty = (each: unknown) => typeof each === "object" && Object.keys(each ?? {}).length === 0;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined && !isEmpty(each));
  return Object.fromEntries(entries.map(([key, each]) => [key, said(each)]));
};
/** What a state holds, whoever wrote it. The CLI keeps operations in no order. */
const heldBy = ({ manifest: _, pending_operations, ...state }: SavedState) => {
  const operations = (pending_operations ?? []).map((each) => JSON.stringify(said(each))).sort();
  return { ...Object(said(state)), operations: operations.map((each) => JSON.parse(each)) };
};

test.each(journals)(
  "the journal of $title makes the state that the CLI's own code makes of it",
  (journal) => {
    const { base, entries, states } = journal;
    expect(Object.keys(states)).toHaveLength(2);
    for (const [count, state] of Object.entries(states))
      expect(heldBy(replay(base, entries.slice(0, Number(count))))).toEqual(heldBy(state));
  },
);

test("an entry of a kind that no journal here has is refused, and so is a field of a resource", () => {
  const entry = { sequenceID: 1, operationID: 1 };
  const state = { urn: "a", type: "t", taint: true };
  for (const kind of [5, 8, 9, 10]) expect(() => replay({}, [{ ...entry, kind }])).toThrow(/never recorded/);
  expect(() => replay({}, [{ ...entry, kind: 1, state }])).toThrow(/taint/);
});

const clouds: PulumiCloud[] = [];
afterEach(async () => {
  for (const cloud of clouds.splice(0)) await cloud.stop();
});

/** Starts a cloud, and returns what asks it as its first user, or as an update under way. */
async function start(switches: Partial<Switches> = {}) {
  const cloud = await PulumiCloud.start(switches);
  clouds.push(cloud);
  const { PULUMI_BACKEND_URL: url, PULUMI_ACCESS_TOKEN: token } = cloud.environment;
  const ask = async (path: string, body?: object, authorization = `token ${token}`) => {
    const more = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/${path}`, { ...more, headers: { authorization } });
    return { status: response.status, body: Object(await response.json()) };
  };
  return { cloud, ask };
}

const STACK = "acme/test/dev";
const resource = { urn: "urn:pulumi:dev::test::a:b:C::one", type: "a:b:C" };
const BEGUN = { kind: 0, sequenceID: 1, operationID: 1, operation: { type: "creating", resource } };
const MADE = { kind: 1, sequenceID: 2, operationID: 1, state: resource };

/** Starts an update of a stack that has one resource, which creates another one. */
async function startUpdate(switches: Partial<Switches> = {}) {
  const { cloud, ask } = await start(switches);
  const stack = cloud.add(STACK);
  stack.saved = { version: 3, deployment: { resources: [{ ...resource, urn: "old" }] } };
  const { updateID } = (await ask(`stacks/${STACK}/update`, {})).body;
  const update = `stacks/${STACK}/update/${updateID}`;
  const { token, journalVersion } = (await ask(update, { journalVersion: 1 })).body;
  const during = (action: string, body: object) => ask(`${update}/${action}`, body, `update-token ${token}`);
  const journal = (...entries: readonly object[]) => during("journalentries", { entries });
  const exported = async () => (await ask(`stacks/${STACK}/export`)).body.deployment;
  return { cloud, ask, stack, update, during, journal, journalVersion, exported };
}

test("an update holds its stack, and its journal becomes the state when it completes", async () => {
  const { ask, during, journal, journalVersion, exported } = await startUpdate();
  expect(journalVersion).toBe(1);
  const listed = (await ask("user/stacks")).body.stacks;
  expect(listed).toMatchObject([{ orgName: "acme", projectName: "test", stackName: "dev", lastUpdate: 0 }]);
  const another = (await ask(`stacks/${STACK}/update`, {})).body.updateID;
  expect(await ask(`stacks/${STACK}/update/${another}`, {})).toMatchObject({ status: 409 });
  expect(await ask(`stacks/${STACK}/import`, {})).toMatchObject({ status: 409 });
  // The CLI sends again what got no answer.
  for (const entries of [[BEGUN], [BEGUN, MADE]]) await journal(...entries);
  await during("complete", { status: "succeeded" });
  expect((await exported()).resources).toMatchObject([resource, { urn: "old" }]);
  expect((await ask("user/stacks")).body.stacks).toMatchObject([{ lastUpdate: 1, resourceCount: 2 }]);
});

test.each([
  ["so far", [{ type: "creating", resource }]],
  ["before", undefined],
] as const)("an export shows the state as of %s while an update runs", async (shows, operations) => {
  const { journal, exported } = await startUpdate({ shows });
  await journal(BEGUN);
  expect((await exported()).pending_operations).toEqual(operations);
});

test.each([
  ["cancelled", true],
  ["cancelled", false],
  ["expired", true],
  ["expired", false],
] as const)("the journal of an update that is %s becomes the state: %s", async (how, keepsCancelled) => {
  const { ask, stack, update, journal, exported } = await startUpdate({ keepsCancelled });
  await journal(BEGUN);
  if (how === "expired") stack.expire();
  else await ask(`${update}/cancel`, {});
  expect(await journal(MADE)).toMatchObject({ status: 409 });
  const { pending_operations = [], resources } = await exported();
  expect([pending_operations.length, resources.length]).toEqual([keepsCancelled ? 1 : 0, 1]);
});

test("without a journal, the state is what the CLI saves, and a delta fails the test", async () => {
  const { cloud, during, journalVersion, exported } = await startUpdate({ journals: false });
  expect(journalVersion).toBeUndefined();
  const untypedDeployment = { version: 3, deployment: { resources: [resource] } };
  await during("checkpointverbatim", { untypedDeployment });
  expect(await exported()).toEqual({ resources: [resource] });
  expect(await during("checkpointdelta", {})).toMatchObject({ status: 500 });
  clouds.length = 0;
  await expect(cloud.stop()).rejects.toThrow(/checkpointdelta/);
});

test("a user sees the stacks of some organizations, but for those that are hidden, in pages", async () => {
  const { cloud, ask } = await start({ pageSize: 2 });
  for (const name of ["acme/test/a", "acme/test/b", "acme/test/c", "acme/other/d", "theirs/test/e"])
    cloud.add(name);
  cloud.users.push({ name: "two", token: "t2", organizations: ["acme"], hidden: ["acme/test/b"] });
  const { stacks, continuationToken } = (await ask("user/stacks?project=test")).body;
  expect(stacks).toMatchObject([{ stackName: "a" }, { stackName: "b" }]);
  const next = `user/stacks?project=test&continuationToken=${continuationToken}`;
  expect((await ask(next)).body).toEqual({ stacks: [expect.objectContaining({ stackName: "c" })] });
  const seen = (await ask("user/stacks", undefined, "token t2")).body.stacks;
  expect(seen).toMatchObject([{ stackName: "a" }, { stackName: "c" }]);
  expect(await ask("stacks/acme/test/b", undefined, "token t2")).toMatchObject({ status: 404 });
  expect(await ask("stacks/theirs/test/e")).toMatchObject({ status: 404 });
  expect(await ask("user", undefined, "token wrong")).toMatchObject({ status: 401 });
});

test.each([
  [false, {}, { resources: [] }],
  [true, null, { resources: null }],
])("a state without resources may say null: %s", async (nulls, fresh, empty) => {
  const { cloud, ask } = await start({ nulls });
  const stack = cloud.add(STACK);
  expect((await ask(`stacks/${STACK}/export`)).body).toEqual({ version: 3, deployment: fresh });
  stack.saved = { version: 3, deployment: { resources: [] } };
  expect((await ask(`stacks/${STACK}/export`)).body).toEqual({ version: 3, deployment: empty });
});
