import type { Habits } from "./fakeService";
import { declared, World } from "./world";

const old = Array.from({ length: 7 }, (_, at) => declared(`old${at}`));
const WARNING =
  /the service no longer lists (\d+ endpoints?) of this stack: (.*?)\. `pulumi up`.*`pulumi up --refresh`/;

let world: World;
/** A stack whose endpoints an earlier run has registered, each run being of the library or of the native plugin. */
async function begin(habits: Habits = {}, isNative = false): Promise<void> {
  world = new World(habits);
  world.stack.isNative = isNative;
  expect(await world.up(old)).toEqual([]);
  world.shown.length = 0;
}
/** Deletes endpoints at the service by hand, and returns their ids. */
function deleteByHand(count: number): string[] {
  const ids = world.stack.resources.slice(0, count).map(({ id }) => id);
  for (const id of ids) world.service.remove(id);
  return ids;
}
const requests = () => world.service.requests.map(({ operation }) => operation);
const said = () => world.warnings.flatMap((each) => WARNING.exec(each)?.slice(1) ?? []);

test.each([
  ["the library", false],
  ["the native plugin", true],
])(
  "an up of %s that registers something new warns once of what the list lacks, and asks for nothing more",
  async (_, isNative) => {
    await begin({}, isNative);
    await world.time.pass(60_000);
    const asked = async () => {
      world.service.requests.length = 0;
      expect(await world.up([...old, declared("new"), declared("newer")])).toEqual([]);
      return requests();
    };
    const missing = deleteByHand(7);
    // As many as ever prove that a list is not stale.
    expect(await asked()).toEqual(["list", "get", "get", "get", "register", "register"]);
    expect(said()).toEqual(["7 endpoints", `${missing.slice(0, 5).join(", ")} and 2 more`]);
    world.shown.length = 0;
    expect(await world.run("up", [...old, declared("new"), declared("newer")])).toEqual([]);
    expect(said()).toEqual([]);
  },
);

test("neither a preview, which asks for nothing, nor a list that is empty once brings a warning", async () => {
  await begin();
  await world.time.pass(60_000);
  world.service.fault({ operation: "list", kind: "blank", delayMs: 3_000 });
  expect(await world.up([declared("new"), ...old])).toEqual([]);
  expect(said()).toEqual([]);
  deleteByHand(1);
  expect(await world.run("preview", [declared("newer"), ...old])).toEqual([]);
  expect(said()).toEqual([]);
});

test.each<[string, Habits, number]>([
  ["a list that is partial", { listed: 3 }, 60_000],
  ["a list that lacks what was registered less than five seconds ago", { lagMs: 5_000 }, 500],
  ["a list that has everything", {}, 60_000],
])("%s brings no warning", async (_, habits, passMs) => {
  await begin(habits);
  await world.time.pass(passMs);
  expect(await world.up([...old, declared("new")])).toEqual([]);
  expect(said()).toEqual([]);
});

test("with the key of another account an up stops, and does not warn of what that account lacks", async () => {
  await begin();
  await world.time.pass(60_000);
  world.rotateKey("");
  const [key = ""] = [...world.service.accounts].find(([, account]) => account === "default") ?? [];
  world.service.accounts.set(key, "another");
  expect(await world.up([...old, declared("new")])).toContainEqual(expect.stringMatching(/OTHER_ACCOUNT/));
  expect(said()).toEqual([]);
});
