import type { Declared } from "./engineModel";
import { Plugin } from "./plugin";
import { World } from "./world";

const speed = 10;
/** Later than the time-out of the registration and what is waited after it, in real milliseconds. */
const delayMs = 25_000 / speed;

const program: readonly Declared[] = [
  { name: "late", args: { url: "https://hooks.example.com/late", type: "production" } },
];

let plugin: Plugin;
let world: World;

beforeAll(async () => {
  plugin = await Plugin.start();
});
afterAll(() => plugin.stop());
beforeEach(async () => {
  world = await World.start({ plugin: async () => plugin, speed });
});
afterEach(() => world.close());

describe("a registration that is made after its time-out", () => {
  const mutations = () => world.emulator.requests.filter(({ method }) => method !== "GET");

  it.each(["up", "refresh", "destroy"] as const)(
    "is waited for by %s, though it comes at once",
    async (command) => {
      const { emulator, stack } = world;
      emulator.fault({ operation: "register", kind: "late-commit", delayMs });
      expect(await stack.up(program)).toEqual([expect.stringMatching(/REGISTRATION_PENDING/)]);
      expect(emulator.endpoints()).toEqual([]);

      emulator.clearRequests();
      expect(command === "up" ? await stack.up(program) : await stack[command]()).toEqual([]);
      expect(world.differences(command === "destroy" ? [] : program, [])).toEqual([]);
      expect(mutations().map(({ method }) => method)).toEqual(command === "destroy" ? ["DELETE"] : []);
      expect(plugin.logs).toContainEqual({
        severity: "info",
        message: expect.stringMatching(
          /looks for \d+ s more whether the registration of https:\/\/hooks\.example\.com\/… is made late/,
        ),
      });
    },
  );

  it("is registered anew when it is too old to come", async () => {
    const { emulator, stack } = world;
    emulator.fault({ operation: "register", kind: "reset-before" });
    await stack.up(program);
    emulator.clearRequests();
    expect(await stack.up(program)).toEqual([]);
    expect(world.differences(program, [])).toEqual([]);
    expect(mutations().map(({ method }) => method)).toEqual(["POST"]);
  });
});
