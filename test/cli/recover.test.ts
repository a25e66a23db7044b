import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { recover } from "../../src/cli/recover/recover";
import type { Endpoint } from "../../src/client";
import { type Emulator, startEmulator } from "../../src/emulator";
import { originOf } from "../../src/endpoint/origin";
import { createProvider } from "../../src/endpoint/provider";
import { Book } from "../../src/settlement/book";
import type { Operation, Resource } from "../../src/settlement/deployment";
import { type Entry, ipHash } from "../../src/settlement/entry";
import { stackNameOf } from "../../src/settlement/stackName";
import { originHashes } from "../../src/settlement/trace";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { FakePulumi, type HistoryEntry } from "./fakePulumi";
import { skippingClock } from "./skippingClock";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const stackUrn = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const urnOf = (name: string) => `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`;
const defaultProvider = "urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::default::1";
const args = { url: "https://a.example.com/", type: "production" } as const;

let clock: ReturnType<typeof skippingClock>;
let emulator: Emulator;
/** The user's PULUMI_HOME. */
let home: string;
let said: string[];
let questions: string[];
/** What a terminal shows while the command works. */
let progress: string[];

beforeEach(async () => {
  clock = skippingClock();
  emulator = await startEmulator({ now: clock.date });
  home = mkdtempSync(join(tmpdir(), "recovery-"));
});
afterEach(async () => {
  rmSync(home, { recursive: true, force: true });
  await emulator.close();
});

const ago = (milliseconds: number) => new Date(clock.date() - milliseconds).toISOString();
/** Lets so many seconds pass. */
const later = (seconds: number) => void clock.after(seconds * SECOND, () => {});
const ids = () => emulator.endpoints().map(({ id }) => id);
const environment = () => ({ PULUMI_HOME: home, PULUMI_BACKEND_URL: "file:///backend" });

const resourceOf = (name: string, inputs: object = {}, provider = defaultProvider): Resource => ({
  urn: urnOf(name),
  type: TYPE_TOKEN,
  inputs: { __provider: PROVIDER_CODE, ...args, ...inputs },
  provider,
});
const interrupted = (name: string, inputs: object = {}, provider = defaultProvider): Operation => ({
  type: "creating",
  resource: resourceOf(name, inputs, provider),
});
/** A resource that an earlier run recorded. */
const living = (name: string, inputs: object, { id = "wh_old", age = HOUR / 2 } = {}): Resource => ({
  ...resourceOf(name, inputs),
  id,
  created: ago(age),
});

interface World {
  readonly operations?: readonly Operation[];
  readonly resources?: readonly Resource[];
  /** How long ago the interrupted run wrote the state. */
  readonly writtenAgo?: number;
}

/** The stack's first run was killed a moment ago, after it had written the state. */
function killed({ operations = [], resources = [], writtenAgo = SECOND }: World): FakePulumi {
  const stack = { urn: stackUrn, type: "pulumi:pulumi:Stack", created: ago(HOUR) };
  return new FakePulumi(
    {
      manifest: { time: ago(writtenAgo) },
      resources: [stack, ...resources],
      pending_operations: operations,
    },
    { "webhooks:baseUrl": { value: emulator.url }, "webhooks:apiKey": { value: emulator.apiKey } },
  );
}

const ran = (start: number, end: number, kind = "update", result = "succeeded"): HistoryEntry => ({
  ...{ kind, result, startTime: ago(start), endTime: ago(end) },
});

/** Runs the command. @param answers what a person at the terminal answers. Default: nobody is there. */
async function run(pulumi: FakePulumi, answers?: string[]) {
  said = [];
  questions = [];
  progress = [];
  const during = <T>(describe: () => string, work: Promise<T>) => {
    progress.push(describe());
    return work;
  };
  const ask = async (question: string) => {
    questions.push(question);
    return answers?.[questions.length - 1] ?? "";
  };
  return recover({
    pulumi,
    yes: answers === undefined,
    environment: environment(),
    clock,
    dialogue: { say: (line) => said.push(line), during, ...(answers ? { ask } : {}) },
  });
}

const book = () =>
  new Book(environment(), (message) => {
    throw new Error(message);
  });
const stackName = () => stackNameOf(stackUrn, { environment: environment(), folder: process.cwd() });
const entries = () => book().entriesOf(stackName());
const origin = () => originOf({ baseUrl: emulator.url, apiKey: emulator.apiKey, providerName: "" });

/** Writes what a run of this machine that was killed had sent. */
function sent(before: number, { id = null, ...change }: Partial<Entry> = {}): Entry {
  const at = clock.date() - before;
  const fields = {
    ...originHashes(origin()),
    stack: stackName(),
    run: "127.0.0.1:1",
    sender: "1",
    ip: ipHash(undefined),
  };
  const begun = book().begin(
    {
      ...{ ...fields, id, createdAt: null, adopted: false, closed: false },
      sent: { at, serviceTime: at, before: [], complete: true },
    },
    args,
  );
  return book().change(begun, { process: { host: hostname(), pid: 999_999_999, start: "" }, ...change });
}

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
    expect(entries().map(({ id }) => id)).toEqual(ids());
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
    expect(said[1]).toMatch(/^a .*it registered nothing/);
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
    const after = clock.after;
    let added: Endpoint | undefined;
    clock = {
      ...clock,
      after: (milliseconds, callback) => {
        if (clock.skippedMs() > 20 * SECOND) added ??= emulator.add(args);
        return after(milliseconds, callback);
      },
    };
    expect(await run(killed({ operations: [interrupted("a")] }))).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${added?.id}.*takes it over`));
  });
});

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

  it("recover does not delete it if another stack manages it, or if a stack cannot be read", async () => {
    const { pulumi, surplus } = replaced();
    pulumi.others = { prod: { resources: [living("theirs", {}, { id: surplus.id })] } };
    expect(await run(pulumi, ["delete"])).toBe("undecided");
    expect(said.join("\n")).toMatch(new RegExp(`${surplus.id} is kept: theirs in .* manages it`));
    pulumi.others = {};
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
    expect(said.join("\n")).toMatch(/it registered nothing/);
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

it("recover exits with 2 when the service lists only a part of its endpoints", async () => {
  await emulator.close();
  emulator = await startEmulator({ now: clock.date, pageSize: 1 });
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

describe("the account of an interrupted registration", () => {
  const providerType = "pulumi:providers:pulumi-nodejs";
  const providerUrn = `urn:pulumi:dev::test::${providerType}`;
  const providerOf = (urn: string, inputs: object): Resource => ({
    ...{ urn, id: "p", type: "pulumi:providers:pulumi-nodejs" },
    inputs: { ...inputs },
  });
  const ofProvider = (urn: string) => [interrupted("a", {}, `${urn}::p`)];

  it.each([
    `${providerType}::default-account`,
    `${providerType}::default_eu`,
    `${providerType}::defaults`,
    `my:index:Team$${providerType}::team`,
  ])(
    "recover looks in the account of the explicit provider %s, also if it has a parent or its name begins with default",
    async (typeAndName) => {
      const other = await startEmulator({ apiKey: "key-of-the-provider", now: clock.date });
      try {
        const { id } = other.add(args);
        const urn = `urn:pulumi:dev::test::${typeAndName}`;
        const inputs = { "webhooks:baseUrl": other.url, "webhooks:apiKey": "key-of-the-provider" };
        const pulumi = killed({ operations: ofProvider(urn), resources: [providerOf(urn, inputs)] });
        expect(await run(pulumi)).toBe("done");
        expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
        expect(emulator.requests).toEqual([]);
        // What only the book shows by now.
        pulumi.deployment = { ...pulumi.deployment, pending_operations: [] };
        expect(await run(pulumi)).toBe("done");
        expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
        expect(emulator.requests).toEqual([]);
      } finally {
        await other.close();
      }
    },
  );

  it.each(["default", "default_3_248_0", "default_1_2_3_alpha"])(
    "recover looks in the account of the stack's configuration if the provider is the engine's own %s",
    async (name) => {
      const { id } = emulator.add(args);
      const urn = `${providerUrn}::${name}`;
      const resources = [providerOf(urn, { "webhooks:apiKey": "an old key" })];
      expect(await run(killed({ operations: ofProvider(urn), resources }))).toBe("done");
      expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
    },
  );

  const encrypted = (value: unknown) => ({
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    plaintext: JSON.stringify(value),
  });
  it.each([
    ["a number", 4000],
    ["a JSON string", "4000"],
    ["a secret number", encrypted(4000)],
    ["a secret string", encrypted("4000")],
  ])("recover reads a setting of a native provider that is %s", async (_what, timeoutSeconds) => {
    const urn = "urn:pulumi:dev::test::pulumi:providers:webhooks::other";
    const inputs = { baseUrl: emulator.url, apiKey: encrypted(emulator.apiKey), timeoutSeconds };
    const native = { ...providerOf(urn, inputs), type: "pulumi:providers:webhooks" };
    const pulumi = killed({ operations: ofProvider(urn), resources: [native] });
    await expect(run(pulumi)).rejects.toThrow(/timeoutSeconds must be .*SETTINGS_INVALID/);
  });

  it("recover fails if the explicit provider is not in the state", async () => {
    const pulumi = killed({ operations: ofProvider(`${providerUrn}::gone`) });
    await expect(run(pulumi)).rejects.toThrow(/STATE_UNREADABLE/);
  });

  it("recover says that nothing can be looked up for a provider that the state no longer has", async () => {
    sent(SECOND, { provider: "gone", fingerprint: "ffffff" });
    expect(await run(killed({}))).toBe("done");
    expect(said[0]).toMatch(/1 registration was sent by a WebhooksProvider that the state no longer has/);
  });
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
