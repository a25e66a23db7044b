import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { urnOf } from "./engineModel";
import { declared, urlOf, World } from "./world";

const inputs = { url: urlOf("jobs"), type: "production", __provider: PROVIDER_CODE } as const;
const NAME = "organization/mail/dev";

/** A service with an endpoint of nobody of this stack, in a backend that can only be this run's, with another stack. */
function begin(more: object = {}, outputs: object = {}) {
  const world = new World();
  world.stack.isProgramRunning = true;
  world.environment = { PULUMI_BACKEND_URL: "file:///states" };
  const { id } = world.service.add(inputs);
  const recorded = { ...inputs, baseUrl: world.service.url, ...outputs };
  const resource = {
    urn: "urn:pulumi:dev::mail::x::theirs",
    type: TYPE_TOKEN,
    id,
    inputs,
    outputs: recorded,
    ...more,
  };
  world.pulumi.others = { [NAME]: { resources: [resource] }, "organization/secret/dev": null };
  const program = { ...inputs, ifExists: "adopt", __urn: urnOf("jobs"), __after: 0 } as const;
  const reasons = async () =>
    (await world.plugin().check({}, program)).failures.map(({ reason }) => reason).join();
  return { world, id, program, reasons };
}
const STOP =
  /"theirs" of the stack organization\/mail\/dev has it.*pulumi state move.*get \S+ --all.*\(ADOPT_TAKEN\)/s;

test("an endpoint that another stack of the backend has is not adopted, and its owner is named", async () => {
  const { world, id, reasons } = begin();
  expect(await reasons()).toMatch(STOP);
  await expect(world.plugin().create({ ...inputs, ifExists: "adopt" })).rejects.toThrow(STOP);
  await expect(world.plugin().create({ ...inputs, adoptId: id })).rejects.toThrow(STOP);
  expect(world.service.changes).toEqual([]);
});

test.each([
  ["at another base URL", {}, { baseUrl: "https://old.example.com" }],
  ["that the next up deletes", { delete: true }, {}],
  ["that a program only reads", { external: true }, {}],
])(
  "a resource %s does not stop an adoption, and the line says how many stacks were read",
  async (_, more, outputs) => {
    const { world, id, reasons } = begin(more, outputs);
    expect(await reasons()).toBe("");
    expect((await world.plugin().create({ ...inputs, ifExists: "adopt" })).id).toBe(id);
    expect(world.shown.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        new RegExp(`adopts ${id} .*Read before that: 1 of 2 other stacks of this backend$`),
      ),
      expect.stringContaining("1 of 2 other stacks"),
    ]);
    world.shown.length = 0;
    expect((await world.plugin().create({ ...inputs, adoptId: id })).id).toBe(id);
    expect(world.shown).toMatchObject([{ message: expect.stringMatching(/adopts .*1 of 2 other stacks/) }]);
  },
);

test("a backend that may be another one is not asked", async () => {
  const { world, id } = begin();
  world.environment = {};
  expect((await world.plugin().create({ ...inputs, ifExists: "adopt" })).id).toBe(id);
});

test.each([
  ["names it too", (id: string) => ({ adoptId: id })],
  ["may adopt it", () => ({ ifExists: "adopt" as const })],
])(
  "of two resources with nearly one url, only one gets the endpoint while other stacks are read, where the second one %s",
  async (_, more) => {
    const world = new World();
    world.environment = { PULUMI_BACKEND_URL: "file:///states" };
    world.pulumi.others = { "organization/secret/dev": null };
    const { id } = world.service.add({ url: urlOf("jobs") });
    const first = declared("first", "jobs/", { adoptId: id });
    const problems = await world.up([first, declared("second", "jobs", more(id))]);
    expect(problems).toEqual([
      expect.stringMatching(/another resource of this stack already has it.*ADOPT_TAKEN/),
    ]);
    expect(world.stack.resources.map((each) => each.id)).toEqual([id]);
    expect(world.service.changes).toEqual([]);
  },
);
