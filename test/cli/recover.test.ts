import type { Endpoint } from "../../src/client";
import { createProvider } from "../../src/endpoint/provider";
import type { FakePulumi } from "./fakePulumi";
import {
  args,
  clock,
  emulator,
  entries,
  environment,
  HOUR,
  ids,
  interrupted,
  killed,
  later,
  living,
  progress,
  questions,
  ran,
  replaceEmulator,
  resourceOf,
  run,
  SECOND,
  said,
  sent,
  whileWaiting,
} from "./recovery";

it("recover says so and asks nobody when no registration was interrupted", async () => {
  const { id } = emulator.add(args);
  expect(await run(killed({ resources: [living("a", {}, { id })] }), [])).toBe("done");
  expect(said).toEqual([expect.stringMatching(/^Nothing to recover/)]);
  expect(emulator.requests).toEqual([]);
});

test("recover shows what it is doing while it takes long, with counts", async () => {
  emulator.add(args);
  await run(killed({ operations: [interrupted("a")] }));
  expect(progress).toEqual([
    "Reading the state of the stack…",
    "Reading what earlier runs sent…",
    "Reading the settings…",
    "Looking up what interrupted runs registered: account 1 of 1.",
  ]);
});

describe("what the next up takes over", () => {
  it("recover names the endpoint that an interrupted operation registered, and asks nobody", async () => {
    const { id } = emulator.add(args);
    expect(await run(killed({ operations: [interrupted("a")] }), [])).toBe("done");
    expect(said.join("\n")).toMatch(
      new RegExp(`^a \\(https://a\\.example\\.com/….*${id}.*next .pulumi up. takes it over`),
    );
    expect(questions).toEqual([]);
    expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("recover writes it into the book, so that it is known when the state has forgotten the operation", async () => {
    const { id } = emulator.add(args);
    const pulumi = killed({ operations: [interrupted("a")] });
    await run(pulumi);
    expect(entries()).toMatchObject([{ id, closed: false }]);
    pulumi.deployment = { ...pulumi.deployment, pending_operations: [] };
    expect(await run(pulumi)).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
    expect(entries()).toHaveLength(1);
  });

  it("recover counts a registration once that the state and the book show", async () => {
    const { id } = emulator.add(args);
    sent(SECOND);
    expect(await run(killed({ operations: [interrupted("a")] }))).toBe("done");
    expect(said.filter((line) => line.includes(id))).toHaveLength(1);
  });

  it("recover takes nothing for an operation whose entry was closed", async () => {
    const stranger = emulator.add(args);
    sent(SECOND, { closed: true });
    expect(await run(killed({ operations: [interrupted("a")] }))).toBe("done");
    expect(said.join("\n")).not.toContain(stranger.id);
  });

  it("recover tells equal pending resources apart", async () => {
    for (let times = 0; times < 2; times++) emulator.add(args);
    const pending = { before: [], complete: true, attemptedAt: clock.date() };
    const resources = ["a", "b"].map((name) => ({
      ...{ ...resourceOf(name), id: `pending:${name}`, outputs: { ...args, pending } },
    }));
    expect(await run(killed({ resources }))).toBe("done");
    for (const id of ids()) expect(said.filter((line) => line.includes(id))).toHaveLength(1);
  });

  it("recover tells equal registrations apart", async () => {
    for (let times = 0; times < 2; times++) emulator.add(args);
    expect(await run(killed({ operations: [interrupted("a"), interrupted("b")] }))).toBe("done");
    for (const id of ids()) expect(said.filter((line) => line.includes(id))).toHaveLength(1);
    // Which of two entries of one millisecond comes first is open.
    expect(
      entries()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids().sort());
  });

  it("recover names what replaces a resource whose url the killed run was changing", async () => {
    const { id } = emulator.add(args);
    const old = living("a", { url: "https://old.example.com/" });
    expect(await run(killed({ operations: [interrupted("a")], resources: [old] }))).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
  });

  it("recover names the endpoint of a resource whose registration is pending", async () => {
    const before = emulator.add(args);
    const { id } = emulator.add(args);
    const pending = { before: [before.id], complete: true, attemptedAt: clock.date() };
    const resource = { ...resourceOf("a"), id: "pending:1", outputs: { ...args, pending } };
    expect(await run(killed({ resources: [resource] }))).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`^a .*${id}.*takes it over`));
    // A destroy knows neither its stack nor the run that sent it.
    const settings: Record<string, string> = {
      "webhooks:baseUrl": emulator.url,
      "webhooks:apiKey": emulator.apiKey,
    };
    const engine = { run: "destroy", startedAt: () => undefined, rootUrn: async () => undefined };
    const provider = createProvider({
      engine: { ...engine, warn: () => {}, info: () => {} },
      environment: environment(),
    });
    await provider.configure({ config: { get: (key: string) => settings[key] } as never });
    await provider.delete("pending:1", {
      ...args,
      ip: null,
      createdAt: null,
      updatedAt: null,
      pending,
    } as never);
    expect(ids()).toEqual([before.id]);
  });

  it("recover believes the id that an operation holds when the kill came right after the answer, whatever ran since", async () => {
    const [own] = [emulator.add(args), emulator.add(args)];
    const operation = interrupted("a");
    const answered = { ...operation, resource: { ...operation.resource, id: own.id } };
    const pulumi = killed({ operations: [answered] });
    pulumi.history = [ran(2 * SECOND, 0, "refresh"), ran(20 * SECOND, 10 * SECOND, "update", "failed")];
    expect(await run(pulumi)).toBe("done");
    expect(said[0]).toMatch(new RegExp(`^a .*${own.id}.*takes it over`));
    expect(said).toHaveLength(2);
  });

  it("recover names the endpoint of a registration that only the book shows", async () => {
    const { id } = emulator.add(args);
    sent(SECOND);
    expect(await run(killed({}))).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
  });

  it("recover reads a url that the state keeps as a secret, and shows no more than its host", async () => {
    const { id } = emulator.add({ ...args, url: "https://a.example.com/t0ken" });
    const url = { plaintext: '"https://a.example.com/t0ken"' };
    expect(await run(killed({ operations: [interrupted("a", { url })] }))).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
    expect(said.join("\n")).not.toContain("t0ken");
    expect(entries()).toMatchObject([{ id }]);
  });
});

describe("what never happened", () => {
  it("recover waits until the service cannot make it any more", async () => {
    expect(await run(killed({ operations: [interrupted("a")] }))).toBe("done");
    expect(said[0]).toMatch(/^Waiting up to (5|6|8|9)\d s/);
    expect(said[1]).toMatch(/^a .*it left nothing behind/);
  });

  it("recover waits for a registration whose url no list shows, and closes its entry", async () => {
    sent(SECOND);
    expect(await run(killed({}))).toBe("done");
    expect(said[0]).toMatch(/^Waiting up to (59|60) s/);
    expect(entries()).toMatchObject([{ closed: true }]);
  });

  it("recover does not wait when the window is over", async () => {
    expect(await run(killed({ operations: [interrupted("a")], writtenAgo: 200 * SECOND }))).toBe("done");
    expect(clock.skippedMs()).toBe(0);
  });

  it("recover finds what appears while it waits", async () => {
    let added: Endpoint | undefined;
    whileWaiting(() => {
      if (clock.skippedMs() > 20 * SECOND) added ??= emulator.add(args);
    });
    expect(await run(killed({ operations: [interrupted("a")] }))).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${added?.id}.*takes it over`));
  });
});

it("recover exits with 2 when the service lists only a part of its endpoints", async () => {
  await replaceEmulator({ pageSize: 1 });
  for (const path of ["b", "c"]) emulator.add({ ...args, url: `https://a.example.com/${path}` });
  expect(await run(killed({ operations: [interrupted("a")] }))).toBe("undecided");
  expect(said[0]).toMatch(/STILL_PENDING/);
  expect(clock.skippedMs()).toBe(0);
});

it("recover names the command that ends Pulumi's warning, and what else that drops", async () => {
  const bucket = { ...interrupted("bucket").resource, type: "aws:s3/bucket:Bucket", urn: "urn:bucket" };
  const operations = [interrupted("a"), { type: "creating", resource: bucket }];
  await run(killed({ operations, writtenAgo: HOUR }));
  expect(said.at(-1)).toMatch(/`pulumi refresh --clear-pending-creates --yes` ends that\. .*urn:bucket/);
});

it("recover leaves an interrupted adoption to the next up", async () => {
  const { id } = emulator.add(args);
  expect(await run(killed({ operations: [interrupted("a", { adoptId: id })] }))).toBe("done");
  expect(said[0]).toMatch(new RegExp(`^a: it was to adopt ${id}`));
});

it.each<[string, (pulumi: FakePulumi) => void, RegExp]>([
  [
    "the key is missing",
    (pulumi) => {
      delete pulumi.config["webhooks:apiKey"];
    },
    /API key is missing.*SETTINGS_INVALID/,
  ],
  [
    "the state cannot be read",
    (pulumi) => {
      pulumi.failures.set("stack export", "error: access denied");
    },
    /access denied.*PULUMI_FAILED/s,
  ],
])("recover fails when %s", async (_, spoil, message) => {
  const pulumi = killed({ operations: [interrupted("a")] });
  spoil(pulumi);
  await expect(run(pulumi)).rejects.toThrow(message);
});

describe("after recover has said, on another machine, that the next up takes an endpoint over,", () => {
  async function promised() {
    const { id } = emulator.add(args);
    later(60);
    const pulumi = killed({ operations: [interrupted("a")], writtenAgo: 60 * SECOND });
    expect(await run(pulumi)).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${id} .*takes it over`));
    return { id, pulumi };
  }

  it("recover does not say that the same registration made nothing", async () => {
    const { pulumi } = await promised();
    later(300);
    expect(await run(pulumi)).toBe("done");
    expect(said.join("\n")).not.toMatch(/left nothing behind/);
  });

  it("recover does not promise somebody's endpoint, too", async () => {
    const { id, pulumi } = await promised();
    later(10);
    const theirs = emulator.add(args);
    later(300);
    await run(pulumi);
    expect(said.join("\n")).not.toMatch(new RegExp(`${theirs.id} .*takes it over`));
    expect(entries().map((each) => each.id)).toEqual([id]);
  });
});
