import { type Emulator, startEmulator } from "../../src/emulator";
import { deferred } from "../receiver/support";
import { type Backend, backend, interrupted, recorded, SECRET_URL } from "./backend";
import { API_KEY, type RunOptions, run, start } from "./running";

const AGE_MS = 5_400_000;
const ALWAYS = Number.POSITIVE_INFINITY;
let service: Emulator;
let count: number;
beforeEach(async () => {
  count = 0;
  service = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}` });
});
afterEach(() => service.close());

/** Registers endpoints: wh_1, wh_2 and so on. */
function add(number: number, { type = "development" as "development" | "production", ageMs = AGE_MS } = {}) {
  for (let at = 0; at < number; at++)
    service.add({
      url: `https://hooks.example.com/${count + 1}`,
      type,
      createdAt: new Date(Date.now() - ageMs).toISOString(),
    });
}

const ids = () => service.endpoints().map(({ id }) => id);
const deletions = () => service.requests.filter(({ method }) => method === "DELETE");
const holding = (id: string) => ({
  resources: [recorded("jobs", { id, url: "https://hooks.example.com/1" })],
});
/** What says, where nothing is named, that the user of Pulumi Cloud sees every stack. */
const SEEN = ["--seen-by", "anna"];
const command = (args: readonly string[], given: Partial<Backend> = {}, options: RunOptions = {}) =>
  run(["delete", ...args, ...(args.includes("--orphans") ? SEEN : [])], {
    pulumi: backend({ baseUrl: service.url, ...given }),
    ...options,
  });

test("delete shows what was named, asks, and deletes it", async () => {
  add(2);
  const deleting = start(["delete", "wh_2"], { pulumi: backend({ baseUrl: service.url }), answers: ["y"] });
  const { status, stdout } = await deleting.ended;
  expect(stdout).toMatch(
    /^ID .*\nwh_2 +development +1h +https:\/\/hooks.example.com\/2 +no stack\nDeleted wh_2\n1 endpoint deleted, 0 kept.\n$/,
  );
  expect(deleting.asked).toEqual(["Delete 1 endpoint? [y/N] "]);
  expect([status, ids()]).toEqual([0, ["wh_1"]]);
});

test.each<[what: string, options: RunOptions, args: string[], why: RegExp]>([
  ["a person declines", { answers: ["n"] }, [], /0 endpoints deleted, 1 kept/],
  ["nobody can be asked", {}, [], /Add --yes.*\(WRONG_USE\)/],
  [
    "a person declines, with --json",
    { answers: [""] },
    ["--json"],
    /"deleted": \[\],\s+"kept": \[\s+\{\s+"id": "wh_1"/,
  ],
])("nothing is deleted if %s", async (_what, options, args, why) => {
  add(1);
  const { status, stdout, stderr } = await command(["wh_1", ...args], {}, options);
  expect([status, ids()]).toEqual([1, ["wh_1"]]);
  expect(stdout + stderr).toMatch(why);
  // Nobody agrees to what they have not seen.
  expect(stdout + stderr).toMatch(/wh_1 +development +1h/);
});

test.each<[what: string, given: Partial<Backend>, why: RegExp]>([
  [
    "a resource has",
    { own: { dev: holding("wh_1") } },
    /managed by jobs in shop\/dev\. To delete it, take it out of that program.*pulumi state move --source \S+ --dest … .?urn:pulumi:dev.*\/docs\/coming-over\.md.*\(NOT_DELETABLE\)/,
  ],
  [
    "a stack of another project has",
    { others: { "organization/mail/dev": holding("wh_1") } },
    /managed by jobs in shop\/dev.*\(NOT_DELETABLE\)/,
  ],
  [
    "an interrupted run may have registered",
    { own: { dev: { pending_operations: [interrupted("jobs", { url: "https://hooks.example.com/1" })] } } },
    /an interrupted run of jobs in shop\/dev.*pulumi up --stack dev.*--clear-pending-creates --yes --non-interactive --stack dev.*\(NOT_DELETABLE\)/,
  ],
  [
    "an unreadable stack may have",
    { others: { x: "denied" } },
    /the stack x cannot be read.*\(OWNERSHIP_UNKNOWN\)/,
  ],
])("delete refuses all that were named if %s one of them", async (_what, given, why) => {
  add(2);
  const { status, stderr } = await command(["wh_1", "wh_2", "--yes"], given);
  expect([status, ids()]).toEqual([1, ["wh_1", "wh_2"]]);
  expect(stderr).toMatch(why);
  expect(deletions()).toEqual([]);
});

test.each([
  ["", /either name the endpoints to delete, or add --orphans/],
  ["wh_1 --orphans", /either name the endpoints to delete, or add --orphans/],
  ["wh_1 --type development", /--older-than, --type and --seen-by are about orphans/],
  ["--orphans --older-than soon", /such as 90s, 15m, 2h or 7d/],
  ["wh_9", /no endpoint wh_9.*\(NOT_FOUND\)/],
])("delete refuses the wrong use %j", async (args, why) => {
  add(1);
  const { status, stderr } = await command([...args.split(" ").filter(Boolean), "--yes"]);
  expect([status, ids()]).toEqual([1, ["wh_1"]]);
  expect(stderr).toMatch(why);
});

test("delete --orphans deletes those that are an hour old on the service's clock, and nothing that a state has", async () => {
  add(2);
  add(2, { ageMs: 60_000 });
  const lost = interrupted("jobs", { url: "https://hooks.example.com/4", at: Date.now() - 60_000 });
  const own = { dev: { ...holding("wh_1"), pending_operations: [lost] } };
  const { status, stdout, stderr } = await command(["--orphans", "--yes"], { own });
  expect(stderr).toMatch(
    /^warning: wh_4 is kept: an interrupted run of jobs .*or nobody wants it, `pulumi refresh --clear/m,
  );
  expect(stdout).toMatch(/^ID .*\nwh_2 .*\nDeleted wh_2\n1 endpoint deleted, 0 kept.\n$/);
  expect([status, ids()]).toEqual([0, ["wh_1", "wh_3", "wh_4"]]);
});

test.each([
  [[], /only the stacks that its user may read, here anna, so .* --seen-by anna\..*\(OWNERSHIP_UNKNOWN\)/],
  [["--seen-by", "bob"], /here anna, and not bob, so/],
])("in Pulumi Cloud, delete --orphans with %j asks who sees every stack", async (seenBy, why) => {
  add(1);
  const pulumi = backend({ baseUrl: service.url });
  const { status, stderr } = await run(["delete", "--orphans", "--yes", ...seenBy], { pulumi });
  expect([status, ids()]).toEqual([1, ["wh_1"]]);
  expect(stderr).toMatch(why);
  // Whoever names an endpoint knows it, and is told whose view it is.
  const named = await command(["wh_1", "--yes"]);
  expect(named.stderr).toMatch(
    /An orphan is what no stack has that anna, the user of Pulumi Cloud here, may read\./,
  );
  expect([named.status, ids()]).toEqual([0, []]);
});

test("in another backend, delete --orphans needs no user", async () => {
  add(1);
  const pulumi = backend({ baseUrl: service.url, url: "s3://states" });
  const { status, stderr } = await run(["delete", "--orphans", "--yes"], { pulumi });
  expect([status, ids()]).toEqual([0, []]);
  expect(stderr).not.toMatch(/Pulumi Cloud/);
});

test.each([
  ["--older-than 2h", ""],
  ["--older-than 30s", "wh_1 wh_2 wh_3"],
  ["--type production", "wh_2"],
  ["--type development --older-than 0s", "wh_1 wh_3"],
])("delete --orphans %s deletes just %j", async (args, list) => {
  const deleted = list.split(" ").filter(Boolean);
  add(1);
  add(1, { type: "production" });
  add(1, { ageMs: 60_000 });
  const { status, stdout } = await command(["--orphans", ...args.split(" "), "--yes", "--json"]);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    deleted: deleted.map((id) => expect.objectContaining({ id })),
    kept: [],
  });
  expect(ids()).toEqual(["wh_1", "wh_2", "wh_3"].filter((id) => !deleted.includes(id)));
});

test("an orphan whose age is unknown, or that is newer than the list's Date, stays, unless any age will do", async () => {
  service.add({ url: "https://hooks.example.com/1", type: "development", createdAt: "0001-01-01T00:00:00Z" });
  add(1, { ageMs: -3_600_000 });
  const { stdout, stderr } = await command(["--orphans", "--older-than", "1s", "--yes"]);
  expect(stderr).toMatch(/younger than --older-than \(default: 1h\), or whose age is unknown, are kept: 2\./);
  expect(stdout).toBe("There is nothing to delete.\n");
  expect(ids()).toEqual(["wh_1", "wh_2"]);
  await command(["--orphans", "--older-than", "0s", "--yes"]);
  expect(ids()).toEqual([]);
});

test("delete --orphans refuses while a killed run may have registered a secret url", async () => {
  add(2);
  const own = { dev: { pending_operations: [interrupted("jobs", { url: SECRET_URL, at: Date.now() })] } };
  const { status, stderr } = await command(["--orphans", "--yes"], { own });
  expect(stderr).toMatch(
    /jobs in shop\/dev, whose url is a secret.*pulumi up --stack dev.*--clear-pending-creates.*\(NOT_DELETABLE\)/,
  );
  expect([status, ids()]).toEqual([1, ["wh_1", "wh_2"]]);
});

test.each<[what: string, change: () => unknown]>([
  ["a run has taken over", () => undefined],
  ["got another url", () => service.edit("wh_1", { url: "https://other.example.com" })],
  ["is gone", () => service.remove("wh_1")],
])("what %s while a person decided is kept", async (what, change) => {
  add(2);
  const own: Record<string, object> = { dev: {} };
  let looks = 0;
  // The list of a look comes before its states.
  const onExport = () => {
    looks += 1;
    if (what !== "a run has taken over" && looks === 1) change();
    else if (looks === 2 && what === "a run has taken over") own.dev = holding("wh_1");
  };
  const { status, stdout, stderr } = await command(
    ["--orphans", "--json"],
    { own, onExport },
    { answers: ["y"] },
  );
  expect(status).toBe(1);
  const kept = [{ id: "wh_1" }];
  expect(JSON.parse(stdout)).toMatchObject({ deleted: [{ id: "wh_2" }], kept });
  expect(stderr).toMatch(/wh_1 was kept: it has changed/);
});

test("an endpoint that cannot be deleted stops the deletion", async () => {
  add(40);
  service.fault({ kind: "status", operation: "delete", status: 401, after: 8, times: ALWAYS });
  const { status, stdout, stderr } = await command(["--orphans", "--yes", "--json"]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/Cannot delete webhook endpoint "wh_\d+".*\(UNAUTHORIZED\)/);
  const { deleted, kept, error } = JSON.parse(stdout);
  expect([deleted.length, kept.length, error.code]).toEqual([8, 32, "UNAUTHORIZED"]);
  expect(deletions().length).toBeLessThanOrEqual(16);
});

describe.each([404, 410])(
  "where a proxy responds with %d to a deletion, and the list still has the endpoint",
  (status) => {
    test.each([false, true])(
      "delete sends it once more, and says deleted only then (after a 502: %s)",
      async (isFirstBroken) => {
        add(2);
        if (isFirstBroken) service.fault({ kind: "status", operation: "delete", status: 502 });
        service.fault({ kind: "status", operation: "delete", status });
        const result = await command(["wh_1", "--yes"]);
        expect(result).toMatchObject({ status: 0, stdout: expect.stringContaining("Deleted wh_1") });
        expect(ids()).toEqual(["wh_2"]);
      },
    );
  },
);

test("delete fails with what it has seen if it gets nothing but 404, and the list still has the endpoint", async () => {
  add(2);
  service.fault({ kind: "status", operation: "delete", status: 404, times: ALWAYS });
  const result = await command(["wh_1", "--yes"]);
  expect(result.status).toBe(1);
  expect(result.stdout).not.toContain("Deleted");
  expect(result.stderr).toMatch(/cannot delete endpoint wh_1: .*still shows it.*\(STILL_LISTED\)/is);
  const { error } = JSON.parse((await command(["wh_1", "--yes", "--json"])).stdout);
  expect(result.stderr).toContain(`error: ${error.message} (STILL_LISTED)\n`);
  expect(ids()).toEqual(["wh_1", "wh_2"]);
});

test("an endpoint that is gone by then counts as deleted", async () => {
  add(1);
  service.fault({ kind: "status", operation: "delete", status: 404, effect: true });
  expect(await command(["wh_1", "--yes"])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("Deleted wh_1"),
  });
});

test("after Ctrl-C, delete names what it deleted, and deletes nothing more", async () => {
  add(40);
  service.fault({ kind: "delay", operation: "delete", after: 8, times: ALWAYS, delayMs: 300 });
  const pulumi = backend({ baseUrl: service.url });
  const running = start(["delete", "--orphans", ...SEEN, "--yes", "--json"], { pulumi });
  await running.until(/Deleted wh_8/);
  const { status, stdout, stderr } = await running.stop();
  expect(status).toBe(130);
  const named = stderr.match(/^Deleted .*$/gm) ?? [];
  const { deleted, kept, error } = JSON.parse(stdout);
  expect([deleted.length, kept.length, error.code]).toEqual([named.length, ids().length, "INTERRUPTED"]);
  expect(named.length + ids().length).toBe(40);
  expect(named.length).toBeLessThanOrEqual(24);
  expect(stderr).toMatch(/Ctrl-C ended the command: \d+ endpoints deleted, \d+ kept \(INTERRUPTED\)/);
});

test("Ctrl-C before the deletion ends it at once", async () => {
  add(1);
  const reading = deferred();
  const onExport = () => {
    reading.resolve();
    return new Promise((resolve) => setTimeout(resolve, 50));
  };
  const pulumi = backend({ baseUrl: service.url, onExport });
  const running = start(["delete", "--orphans", ...SEEN, "--yes"], { pulumi });
  await reading.promise;
  expect(await running.stop()).toMatchObject({ status: 130, stdout: "" });
  expect(ids()).toEqual(["wh_1"]);
});
