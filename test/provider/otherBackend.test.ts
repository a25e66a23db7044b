import type { Deployment } from "../../src/provider/stackState";
import { TYPE_TOKEN } from "../../src/shared/permanent";
import { Killed, providerUrnOf, urnOf } from "./engineModel";
import { declared, World } from "./world";

let world: World;
beforeEach(() => {
  world = new World();
});

const jobs = [declared("jobs")];
const renamed = [declared("renamed", "jobs")];
const stop = expect.stringMatching(/wh_1 .*another backend.*PULUMI_BACKEND_URL.*ENDPOINT_EXISTS/s);

/** Runs an `up` that is killed when so many registrations are made and get no response. */
async function killedUp(program: typeof jobs, registrations = 1): Promise<void> {
  let left = registrations;
  world.service.watch = ({ operation }, moment) => {
    if (operation === "register" && moment === "done" && --left === 0) world.kill();
  };
  await expect(world.up(program)).rejects.toThrow(Killed);
  world.service.watch = () => {};
  await world.time.pass(2_000);
}

/** Moves the stack to another, empty backend, while `pulumi stack export` still reads the old one. */
function moveBackend(): void {
  const { deployment } = world.stack;
  world.exported = () => deployment;
  Object.assign(world.stack, { resources: [], pendingCreates: [] });
  world.service.requests.length = 0;
}

describe("when `pulumi stack export` reads a stack of the same names in another backend", () => {
  test("an endpoint that a resource there has is named, and not registered again", async () => {
    await world.up(jobs);
    moveBackend();
    const adopting = [declared("jobs", "jobs", { ifExists: "adopt" })];
    for (const program of [jobs, renamed, adopting]) expect(await world.up(program)).toEqual([stop]);
    const taken = expect.stringMatching(/another backend.*PULUMI_BACKEND_URL.*ADOPT_TAKEN/);
    expect(await world.up([declared("jobs", "jobs", { adoptId: "wh_1" })])).toEqual([taken]);
    expect(world.service.changes).toEqual([]);
  });

  test("an interrupted creation there is no evidence", async () => {
    await killedUp(jobs);
    moveBackend();
    expect(await world.up(jobs)).toEqual([stop]);
    expect(world.service.changes).toEqual([]);
  });

  test("adoptId has its effect, though a resource of this name has an endpoint there", async () => {
    const found = world.service.add({ url: "https://hooks.example.com/jobs" });
    const there = { urn: urnOf("jobs"), type: TYPE_TOKEN, id: "wh_9", provider: providerUrnOf("") };
    world.exported = () => ({ resources: [there] });
    const adopting = [declared("jobs", "jobs", { adoptId: found.id })];
    expect(await world.up(adopting)).toEqual([]);
    expect(world.differences(adopting)).toEqual([]);
  });

  test("what a person says goes on without the state", async () => {
    await world.up(jobs);
    moveBackend();
    const another = [declared("jobs", "jobs", { ifExists: "register" })];
    expect(await world.up(another)).toEqual([]);
    expect(world.service.changes).toEqual(["register"]);
  });
});

// As a backend that keeps journals prints a state, or the run with PULUMI_SKIP_CHECKPOINTS: without what is under way.
const withoutOperations = ({ resources = [] }: Deployment): Deployment => ({ resources });
const ROOT = "/home/me/project";
test.each<[string, NodeJS.ProcessEnv, { organization?: string; rootDirectory?: string }, boolean]>([
  ["nothing says where the backend is", {}, {}, false],
  ["it is relative", { PULUMI_BACKEND_URL: "file://./state" }, { rootDirectory: ROOT }, false],
  ["it is a folder's own", { PULUMI_BACKEND_URL: "file://." }, {}, false],
  ["it is absolute", { PULUMI_BACKEND_URL: "file:///srv/state" }, {}, true],
  ["it is in the home folder", { PULUMI_BACKEND_URL: "file://~" }, {}, true],
  ["it is a bucket", { PULUMI_BACKEND_URL: "s3://state?region=eu" }, {}, true],
  ["it is Pulumi Cloud", {}, { organization: "acme", rootDirectory: ROOT }, true],
  ["it is Pulumi Cloud, for an inline program", {}, { organization: "acme" }, false],
  ["it is a folder or a bucket of a login", {}, { rootDirectory: ROOT }, false],
])(
  "a state that does not show what a run creates counts only where the backend cannot differ: %s",
  async (_, environment, place, counts) => {
    Object.assign(world, { environment });
    Object.assign(world.stack, place);
    await world.up(jobs);
    world.exported = () => withoutOperations(world.stack.deployment);
    expect(await world.up(renamed)).toEqual(counts ? [] : [stop]);
    if (counts) expect(world.differences(renamed)).toEqual([]);
  },
);

test("an ordinary up reads the state once, and one after a kill of many twice", async () => {
  const many = ["a", "b", "c", "d", "e"].map((name) => declared(name));
  await world.up(many.slice(0, 1));
  expect(world.exports).toHaveLength(1);
  await killedUp(many, 4);
  world.exports.length = 0;
  expect(await world.up(many)).toEqual([]);
  expect(world.exports).toHaveLength(2);
  expect(world.differences(many)).toEqual([]);
});
