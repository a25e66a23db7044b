import type { FakePulumi } from "./fakePulumi";
import {
  ago,
  args,
  book,
  emulator,
  entries,
  ids,
  interrupted,
  killed,
  later,
  living,
  questions,
  ran,
  run,
  SECOND,
  said,
  sent,
} from "./recovery";

/** The time as the history has it: whole seconds, cut off. */
const thisSecond = () => ago(0).replace(/\.\d+Z$/, "Z");

describe("what no resource will take", () => {
  /** A run with `--replace` was killed: the resource lives with the same inputs. */
  const replaced = () => {
    const old = emulator.add(args);
    const pulumi = killed({
      operations: [interrupted("a")],
      resources: [living("a", {}, { id: old.id })],
    });
    return { old, pulumi, surplus: emulator.add(args) };
  };

  it("recover deletes it once a person says so", async () => {
    const { old, pulumi, surplus } = replaced();
    expect(await run(pulumi, ["delete"])).toBe("done");
    expect(questions).toEqual([expect.stringContaining(surplus.id)]);
    expect(ids()).toEqual([old.id]);
  });

  it("recover forgets it when it is to stay", async () => {
    const { pulumi } = replaced();
    expect(await run(pulumi, ["keep"])).toBe("done");
    expect(ids()).toHaveLength(2);
    expect(await run(pulumi)).toBe("done");
    expect(said.join("\n")).not.toContain("wh_");
  });

  it.each([
    ["without an answer", [""]],
    ["with --yes", undefined],
  ])("recover deletes nothing %s, and exits with 2", async (_, answers) => {
    const { pulumi, surplus } = replaced();
    expect(await run(pulumi, answers)).toBe("undecided");
    expect(said.join("\n")).toContain(surplus.id);
    expect(ids()).toHaveLength(2);
  });

  it("recover does not take an endpoint for it that is older than the resource", async () => {
    const stranger = emulator.add(args);
    later(60);
    const { id } = emulator.add(args);
    const resources = [living("a", {}, { id, age: 0 })];
    later(1);
    expect(await run(killed({ operations: [interrupted("a")], resources }))).toBe("done");
    expect(said.join("\n")).not.toContain(stranger.id);
  });

  it.each([
    ["is equal", {}, /takes it over if the program declares a resource for it that the stack lacks/],
    ["has another ip", { ip: "203.0.113.7" }, /takes it over\.$/m],
  ])(
    "recover promises no more than it knows of what only the book has, if the stack's endpoint %s",
    async (_, inputs, words) => {
      // A killed `up --replace`, or a rename, and then `pulumi refresh --clear-pending-creates`.
      const old = emulator.add(args);
      later(60);
      const { id } = emulator.add(args);
      sent(0);
      const pulumi = killed({ resources: [living("a", inputs, { id: old.id, age: 60 * SECOND })] });
      expect(await run(pulumi)).toBe("done");
      expect(said.join("\n")).toContain(`it registered ${id}`);
      expect(said.join("\n")).toMatch(words);
    },
  );

  it.each([
    ["a destroy has emptied the state", 10],
    ["the stack has begun again since a destroy", 1],
  ])("recover asks about what a killed run registered also once %s", async (_, writtenAgo) => {
    const { id } = emulator.add(args);
    later(60);
    const pulumi = killed({ operations: [interrupted("a")], writtenAgo: writtenAgo * SECOND });
    const roots = (pulumi.deployment.resources ?? []).map((root) => ({ ...root, created: ago(5 * SECOND) }));
    pulumi.deployment = { ...pulumi.deployment, resources: writtenAgo < 5 ? roots : [] };
    pulumi.history = [ran(20 * SECOND, 10 * SECOND, "destroy")];
    await run(pulumi, ["delete"]);
    expect(questions).toEqual([expect.stringContaining(id)]);
  });

  it("recover asks about it if an up that did without began in the second of the kill", async () => {
    const { id } = emulator.add(args);
    sent(0);
    const startTime = thisSecond();
    later(60);
    const pulumi = killed({ writtenAgo: 0 });
    pulumi.history = [{ kind: "update", result: "succeeded", startTime, endTime: ago(50) }];
    expect(await run(pulumi, ["delete"])).toBe("done");
    expect(questions).toEqual([expect.stringContaining(id)]);
  });

  it("recover does so if the destroy began in the second of the kill, which the history cuts off", async () => {
    const { id } = emulator.add(args);
    sent(0);
    const startTime = thisSecond();
    later(60);
    const pulumi = killed({ operations: [interrupted("a")], writtenAgo: 10 * SECOND });
    pulumi.deployment = { ...pulumi.deployment, resources: [] };
    pulumi.history = [{ kind: "destroy", result: "succeeded", startTime, endTime: ago(59) }];
    await run(pulumi);
    expect(said.join("\n")).toContain(id);
  });

  it("recover asks nothing about it if another stack manages it, and forgets it", async () => {
    const { pulumi, surplus } = replaced();
    pulumi.others = { prod: { resources: [living("theirs", {}, { id: surplus.id })] } };
    expect(await run(pulumi, [])).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${surplus.id} stays: theirs in .* manages it`));
    expect([questions, ids().includes(surplus.id)]).toEqual([[], true]);
    await run(pulumi);
    expect(said.join("\n")).not.toContain(surplus.id);
  });

  it("recover does not delete it if a stack cannot be read", async () => {
    const { pulumi, surplus } = replaced();
    pulumi.failures.set("stack ls", "error: no backend");
    expect(await run(pulumi, ["delete"])).toBe("undecided");
    expect(ids()).toContain(surplus.id);
  });

  it("recover asks about it when the program has given the resource another url since", async () => {
    const surplus = emulator.add(args);
    const now = living("a", { url: "https://new.example.com/" }, { age: -10 * SECOND });
    expect(await run(killed({ operations: [interrupted("a")], resources: [now] }), ["delete"])).toBe("done");
    expect(questions).toEqual([expect.stringContaining(surplus.id)]);
    expect(ids()).toEqual([]);
  });

  it("recover asks about what a later up has left, by the id in the book", async () => {
    const { id, createdAt } = emulator.add(args);
    sent(SECOND, { id, createdAt });
    later(600);
    const pulumi = killed({ writtenAgo: 0 });
    pulumi.history = [ran(300 * SECOND, 200 * SECOND)];
    expect(await run(pulumi, ["delete"])).toBe("done");
    expect(ids()).toEqual([]);
    expect(entries()).toMatchObject([{ closed: true }]);
  });

  it("recover keeps what a resource has got while a person decided", async () => {
    const { pulumi, surplus } = replaced();
    pulumi.meanwhile = () => {
      if (questions.length === 0) return;
      const taken = living("b", {}, { id: surplus.id });
      pulumi.deployment = {
        ...pulumi.deployment,
        resources: [...(pulumi.deployment.resources ?? []), taken],
      };
    };
    expect(await run(pulumi, ["delete"])).toBe("undecided");
    expect(said.join("\n")).toMatch(new RegExp(`${surplus.id} is kept`));
    expect(ids()).toHaveLength(2);
  });

  it("recover deletes nothing while the process that registered it is alive", async () => {
    const { old, pulumi, surplus } = replaced();
    const { process: own } = book().begin({ ...sent(0), run: "127.0.0.1:1" }, args);
    for (const entry of entries()) book().remove(entry);
    sent(SECOND, { id: surplus.id, createdAt: surplus.createdAt, process: own });
    expect(await run(pulumi, ["delete"])).toBe("undecided");
    expect(said.join("\n")).toMatch(/still under way/);
    expect(ids()).toEqual([old.id, surplus.id]);
  });
});

describe("what is in doubt", () => {
  let pulumi: FakePulumi;
  beforeEach(() => {
    for (let times = 0; times < 2; times++) emulator.add(args);
    pulumi = killed({ operations: [interrupted("a")] });
  });

  it("recover says it in the words of up, decides nothing with --yes, and exits with 2", async () => {
    expect(await run(pulumi)).toBe("undecided");
    expect(said[0]).toMatch(
      /2 endpoints fit 1 pending registration.*set adoptId.*ifExists: "register".*\(REGISTRATION_IN_DOUBT\)$/,
    );
    for (const id of ids()) expect(said[0]).toContain(id);
    expect(entries()).toEqual([]);
  });

  it("recover forgets what is somebody else's, and the next up takes over the one that is left", async () => {
    const [other, own] = ids();
    expect(await run(pulumi, ["keep", ""])).toBe("undecided");
    expect(entries()).toMatchObject([{ id: other, closed: true, foreign: true }]);
    expect(await run(pulumi)).toBe("done");
    expect(said[0]).toContain(`it registered ${own}`);
    expect(said[0]).toMatch(/The next `pulumi up` takes it over/);
    expect(said.join("\n")).not.toContain(other);
    expect(ids()).toHaveLength(2);
  });

  it("recover forgets all of them", async () => {
    expect(await run(pulumi, ["keep", "keep"])).toBe("done");
    expect(entries()).toMatchObject([{ foreign: true }, { foreign: true }]);
    expect(await run(pulumi)).toBe("done");
    expect(said.join("\n")).toMatch(/it left nothing behind/);
  });

  it.each(["wh_other", ""])("recover decides nothing when the answer is %j", async (answer) => {
    expect(await run(pulumi, [answer, answer])).toBe("undecided");
    expect(entries()).toEqual([]);
  });

  it("recover is in doubt about two registrations that differ in ip", async () => {
    pulumi = killed({ operations: [interrupted("a", { ip: "10.0.0.1" }), interrupted("b")] });
    expect(await run(pulumi)).toBe("undecided");
    expect(said[0]).toMatch(/differs only in ip/);
  });

  it("recover asks when a later run has written the state, because nothing dates the interrupted run then", async () => {
    pulumi.history = [ran(2 * SECOND, 0, "refresh"), ran(20 * SECOND, 10 * SECOND, "update", "failed")];
    expect(await run(pulumi)).toBe("undecided");
    expect(said[0]).toMatch(/a later run has written the state.*REGISTRATION_IN_DOUBT/);
  });

  it("recover only asks what to do with each endpoint when an up has done without them", async () => {
    pulumi.history = [ran(2 * SECOND, 0)];
    const [, other] = ids();
    expect(await run(pulumi, ["delete", "keep"])).toBe("done");
    expect(said[0]).toMatch(/REGISTRATION_IN_DOUBT/);
    expect(ids()).toEqual([other]);
    expect(await run(pulumi)).toBe("done");
  });
});

it("recover deletes nothing whose registration is pending in another stack, where `pulumi state move` has put its resource", async () => {
  const pendingId = "pending:1";
  const { sent: at } = sent(0, { pendingId });
  const made = emulator.add(args);
  later(60);
  const pulumi = killed({ resources: [living("other", { url: "https://other.example.com/" })] });
  pulumi.history = [ran(62 * SECOND, 55 * SECOND, "update", "failed")];
  const pending = { before: [], complete: true, attemptedAt: at?.at ?? 0 };
  const moved = { ...living("a", {}, { id: pendingId }), outputs: { ...args, pending } };
  pulumi.others = { prod: { resources: [moved] } };
  await run(pulumi, ["delete"]);
  expect(ids()).toEqual([made.id]);
  expect(said.join("\n")).toMatch(/is kept: its registration is pending in the stack prod/);
});

it("recover deletes what a person says of a pending resource of its own stack", async () => {
  const pendingId = "pending:1";
  const { sent: at } = sent(0, { pendingId });
  const [one, two] = [emulator.add(args), emulator.add(args)];
  later(60);
  const pending = { before: [], complete: true, attemptedAt: at?.at ?? 0 };
  const resource = { ...living("a", {}, { id: pendingId }), outputs: { ...args, pending } };
  const pulumi = killed({ resources: [resource] });
  pulumi.history = [ran(62 * SECOND, 55 * SECOND, "update", "failed")];
  expect(await run(pulumi, ["delete", "keep"])).toBe("done");
  expect(ids()).toEqual([two.id]);
  expect(said.join("\n")).toContain(`Deleted ${one.id}`);
});

it("recover asks about what fits a registration that was sent to another base URL", async () => {
  sent(0, { service: "0123456789abcdef" });
  const { id } = emulator.add(args);
  later(60);
  const pulumi = killed({ resources: [living("other", { url: "https://other.example.com/" })] });
  pulumi.history = [ran(62 * SECOND, 55 * SECOND, "update", "failed")];
  await run(pulumi, ["keep"]);
  expect(questions.join("\n")).toContain(id);
  expect(said.join("\n")).toContain("it was sent to another base URL");
});
