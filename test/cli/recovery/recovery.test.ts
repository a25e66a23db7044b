import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pulumi } from "../../../src/cli/pulumi";
import { recover } from "../../../src/cli/recovery/recovery";
import type { Clock } from "../../../src/client/clock";
import { type Emulator, startEmulator } from "../../../src/emulator";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../../src/shared/permanent";
import type { HistoryEntry } from "../../../src/endpoint/witness/history";
import { FakePulumi } from "../fakePulumi";
import { skippingClock } from "./skippingClock";

const stackUrn = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const urnOf = (name: string) => `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`;

/** The endpoints in the state that was imported. */
function recoveredBy({ imported = "" }: FakePulumi): (string | undefined)[] {
  const { deployment } = JSON.parse(imported);
  return deployment.resources.flatMap(({ type, id }: { type: string; id: string }) =>
    type === TYPE_TOKEN ? [id] : [],
  );
}

let emulator: Emulator;
/** The user's PULUMI_HOME. */
let home: string;
let said: string[];

beforeEach(async () => {
  emulator = await startEmulator();
  home = mkdtempSync(join(tmpdir(), "recovery-"));
  said = [];
});
afterEach(async () => {
  rmSync(home, { recursive: true, force: true });
  await emulator.close();
});

const interrupted = (name: string, inputs: object = {}, type = TYPE_TOKEN) => ({
  type: "creating",
  resource: {
    urn: urnOf(name),
    type,
    custom: true,
    inputs: { __provider: PROVIDER_CODE, url: "https://a.example.com/", type: "production", ...inputs },
    provider: `urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::default::1`,
  },
});

function pulumiWith(operations: readonly object[], resources: readonly object[] = []): FakePulumi {
  const stack = {
    urn: stackUrn,
    type: "pulumi:pulumi:Stack",
    created: new Date(Date.now() - 60_000).toISOString(),
  };
  return new FakePulumi(
    { deployment: { resources: [stack, ...resources], pending_operations: operations } },
    { "webhooks:baseUrl": { value: emulator.url }, "webhooks:apiKey": { value: emulator.apiKey } },
  );
}

interface Person {
  /** What a person at the terminal answers. Default: nobody is there. */
  readonly answers?: string[];
  /** Default: when nobody is there. */
  readonly yes?: boolean;
  readonly clock?: Clock;
}

function run(
  pulumi: Pulumi,
  { answers, yes = answers === undefined, clock = skippingClock() }: Person = {},
): Promise<"done" | "undecided"> {
  const ask = async (question: string) => {
    said.push(question);
    return answers?.shift() ?? "";
  };
  return recover({
    pulumi,
    yes,
    environment: { PULUMI_HOME: home },
    clock,
    dialogue: { say: (line) => said.push(line), ...(answers ? { ask } : {}) },
  });
}

const backupFolder = () => join(home, "webhook-endpoints", "backups");
const backups = () => (existsSync(backupFolder()) ? readdirSync(backupFolder()).sort() : []);

it("recover writes the state once a person agrees, and keeps the old one where only the user can read it", async () => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([interrupted("a")]);
  expect(await run(pulumi, { answers: ["y"] })).toBe("done");
  expect(recoveredBy(pulumi)).toEqual([id]);
  const [name = ""] = backups();
  const file = join(backupFolder(), name);
  expect(name).toMatch(/^\d{4}-.*-test-dev\.json$/);
  expect(said.join("\n")).toContain(file);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(pulumi.state);
  for (const path of [file, backupFolder()]) expect(statSync(path).mode & 0o077).toBe(0);
  expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
});

it("recover keeps the last 50 backups", async () => {
  mkdirSync(backupFolder(), { recursive: true });
  for (let index = 0; index < 60; index++)
    writeFileSync(join(backupFolder(), `2020-01-01T00-00-00-${100 + index}Z-test-dev.json`), "");
  emulator.add({ url: "https://a.example.com/", type: "production" });
  expect(await run(pulumiWith([interrupted("a")]))).toBe("done");
  expect(statSync(backupFolder()).mode & 0o077).toBe(0);
  expect(backups()).toHaveLength(50);
  expect(backups().at(0)).toContain("-111Z-");
  expect(said.join("\n")).toContain(backups().at(-1));
});

it("recover changes nothing when the backup cannot be written", async () => {
  writeFileSync(join(home, "webhook-endpoints"), "not a folder");
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([interrupted("a")]);
  await expect(run(pulumi)).rejects.toThrow(/the state was not changed.*BACKUP_FAILED/s);
  expect(pulumi.imported).toBeUndefined();
});

it("without a terminal and without --yes, recover names --yes and changes nothing", async () => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([interrupted("a")]);
  expect(await run(pulumi, { yes: false })).toBe("undecided");
  expect(said.at(-1)).toMatch(/no terminal.*--yes/);
  expect(pulumi.imported).toBeUndefined();
});

it.each(["n", "", "maybe"])("recover changes nothing when the answer is %j", async (answer) => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([interrupted("a")]);
  expect(await run(pulumi, { answers: [answer] })).toBe("undecided");
  expect(pulumi.imported).toBeUndefined();
  expect(backups()).toEqual([]);
});

describe("when more than one endpoint matches an interrupted registration", () => {
  let ids: string[];
  let pulumi: FakePulumi;
  beforeEach(() => {
    ids = [1, 2].map(() => emulator.add({ url: "https://a.example.com/", type: "production" }).id);
    pulumi = pulumiWith([interrupted("a")]);
  });

  it("recover takes the endpoint that a person names", async () => {
    expect(await run(pulumi, { answers: [ids[1] ?? "", "yes"] })).toBe("done");
    expect(recoveredBy(pulumi)).toEqual([ids[1]]);
    for (const id of ids) expect(said.join("\n")).toContain(id);
  });

  it("recover takes none if a person says so, and the next up registers one", async () => {
    expect(await run(pulumi, { answers: ["none", "yes"] })).toBe("done");
    expect(recoveredBy(pulumi)).toEqual([]);
  });

  it.each([["another id"], ["no answer", ""]])(
    "recover changes nothing if the person gives %s",
    async (_, answer = "wh_other") => {
      expect(await run(pulumi, { answers: [answer, "yes"] })).toBe("undecided");
      expect(pulumi.imported).toBeUndefined();
    },
  );

  it("recover changes nothing if nobody can be asked", async () => {
    expect(await run(pulumi)).toBe("undecided");
    expect(said.at(-1)).toMatch(/needs your decision.*without --yes/);
    expect(pulumi.imported).toBeUndefined();
    expect(backups()).toEqual([]);
  });
});

it("recover does not let a person choose one endpoint for two registrations", async () => {
  const [one, two] = [1, 2, 3].map(
    () => emulator.add({ url: "https://a.example.com/", type: "production" }).id,
  );
  const pulumi = pulumiWith([interrupted("a"), interrupted("b")]);
  expect(await run(pulumi, { answers: [one ?? "", one ?? "", "yes"] })).toBe("undecided");
  expect(await run(pulumi, { answers: [one ?? "", two ?? "", "yes"] })).toBe("done");
  expect(recoveredBy(pulumi).sort()).toEqual([one, two].sort());
});

it("recover does not make Pulumi forget other interrupted resources, unless a person agrees", async () => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([interrupted("a"), interrupted("bucket", {}, "aws:s3/bucket:Bucket")]);
  expect(await run(pulumi)).toBe("undecided");
  expect(said.join("\n")).toMatch(/::bucket was interrupted too/);
  expect(pulumi.imported).toBeUndefined();
  expect(await run(pulumi, { answers: ["y"] })).toBe("done");
});

it("recover marks an endpoint for deletion if a later run has registered another one for the resource", async () => {
  const left = emulator.add({ url: "https://a.example.com/", type: "production" });
  const own = emulator.add({ url: "https://a.example.com/", type: "production" });
  const { resource } = interrupted("a");
  const pulumi = pulumiWith(
    [interrupted("a")],
    [{ ...resource, id: own.id, created: new Date().toISOString() }],
  );
  expect(await run(pulumi)).toBe("done");
  const { resources } = JSON.parse(pulumi.imported ?? "").deployment;
  expect(
    resources.slice(1).map(({ id, delete: gone = false }: { id: string; delete?: boolean }) => [id, gone]),
  ).toEqual([
    [own.id, false],
    [left.id, true],
  ]);
});

const SECOND = 1_000;
const since = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();

/** A stack whose state was written so many milliseconds ago, after this run. */
function pulumiAfter(last: HistoryEntry, written: number, operations = [interrupted("a")]): FakePulumi {
  const { state, config } = pulumiWith(operations);
  state.deployment.manifest = { time: since(written) };
  return new FakePulumi(state, config, [last]);
}
const ended = (milliseconds: number, more: HistoryEntry = {}): HistoryEntry => ({
  kind: "update",
  result: "succeeded",
  startTime: since(milliseconds + 10 * SECOND),
  endTime: since(milliseconds),
  ...more,
});

it("recover takes an endpoint that was made after the last run in the history, if the state is younger than it", async () => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiAfter(ended(30 * SECOND), 5 * SECOND);
  expect(await run(pulumi)).toBe("done");
  expect(recoveredBy(pulumi)).toEqual([id]);
});

it.each([-3_600, 3_600])(
  "recover takes the endpoint of a killed run if the service's clock is %i s off",
  async (seconds) => {
    const now = () => Date.now() + seconds * SECOND;
    const other = await startEmulator({ now });
    try {
      const { id } = other.add({ url: "https://a.example.com/", type: "production" });
      const pulumi = pulumiAfter(ended(30 * SECOND), 5 * SECOND);
      pulumi.config["webhooks:baseUrl"] = { value: other.url };
      expect(await run(pulumi)).toBe("done");
      expect(recoveredBy(pulumi)).toEqual([id]);
    } finally {
      await other.close();
    }
  },
);

it("recover takes an endpoint that was made during an up that was ended at once, which leaves an entry", async () => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiAfter(ended(0, { result: "failed" }), 0);
  expect(await run(pulumi)).toBe("done");
  expect(recoveredBy(pulumi)).toEqual([id]);
});

it.each<[string, () => FakePulumi]>([
  ["before the last run", () => pulumiAfter(ended(-30 * SECOND), -40 * SECOND)],
  [
    "before an up that was ended at once",
    () => pulumiAfter(ended(-30 * SECOND, { result: "failed" }), -30 * SECOND),
  ],
  ["before a run that succeeded", () => pulumiAfter(ended(5 * SECOND), 5 * SECOND)],
  ["long after the interrupted run", () => pulumiAfter(ended(300 * SECOND), 200 * SECOND)],
])("recover asks about an endpoint that was made %s", async (_, stack) => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  expect(await run(stack())).toBe("undecided");
  expect(said.join("\n")).toContain(id);
  expect(said.join("\n")).not.toMatch(/never completed/);
  const pulumi = stack();
  expect(await run(pulumi, { answers: [id, "y"] })).toBe("done");
  expect(recoveredBy(pulumi)).toEqual([id]);
});

describe("when the service does not list an endpoint of a registration", () => {
  /** `webhooks:timeoutSeconds` is 30 by default. */
  const PATIENCE = 60 * SECOND;

  it("recover waits until the registration is twice timeoutSeconds old, and says so in one line", async () => {
    const clock = skippingClock();
    expect(await run(pulumiAfter(ended(30 * SECOND), 15 * SECOND), { clock })).toBe("done");
    expect(clock.skippedMs()).toBeGreaterThan(PATIENCE - 16 * SECOND);
    expect(clock.skippedMs()).toBeLessThan(PATIENCE - 14 * SECOND);
    expect(said.filter((line) => /^Waiting up to 4\d s/.test(line))).toHaveLength(1);
    expect(said.join("\n")).toMatch(/never completed/);
  });

  it("recover does not wait if the registration is old enough", async () => {
    const clock = skippingClock();
    expect(await run(pulumiAfter(ended(300 * SECOND), 200 * SECOND), { clock })).toBe("done");
    expect(clock.skippedMs()).toBe(0);
    expect(emulator.requests).toHaveLength(1);
  });

  it.each([
    ["", 30],
    [", though an older endpoint is alike", -10],
  ])("recover takes an endpoint that appears while it waits%s", async (_, runEnded) => {
    const args = { url: "https://a.example.com/", type: "production" } as const;
    let id = "";
    const clock = skippingClock();
    const appears: Clock = {
      ...clock,
      after: (milliseconds, callback) => {
        if (id === "" && clock.skippedMs() > 20 * SECOND) id = service.add(args).id;
        return clock.after(milliseconds, callback);
      },
    };
    const service = await startEmulator({ now: clock.date });
    try {
      if (runEnded < 0) service.add(args);
      const pulumi = pulumiAfter(ended(runEnded * SECOND), (runEnded - 5) * SECOND);
      pulumi.config["webhooks:baseUrl"] = { value: service.url };
      expect(await run(pulumi, { clock: appears })).toBe("done");
      expect(recoveredBy(pulumi)).toEqual([id]);
    } finally {
      await service.close();
    }
  });

  it("recover does not wait if a later run has recorded an endpoint with the same arguments", async () => {
    const clock = skippingClock();
    const { resource } = interrupted("a");
    const own = { ...resource, id: "wh_own", created: since(2 * SECOND) };
    const pulumi = pulumiAfter(ended(0), 0);
    (pulumi.state.deployment.resources as object[]).push(own);
    expect(await run(pulumi, { clock })).toBe("done");
    expect(clock.skippedMs()).toBe(0);
    expect(said.join("\n")).toMatch(/a later run has recorded its endpoint/);
    expect(recoveredBy(pulumi)).toEqual(["wh_own"]);
  });

  it("recover does not wait for a service that lists only a part: waiting could not show that it was never made", async () => {
    const other = await startEmulator({ pageSize: 1 });
    try {
      for (const path of ["b", "c"]) other.add({ url: `https://a.example.com/${path}`, type: "production" });
      const clock = skippingClock();
      const pulumi = pulumiAfter(ended(30 * SECOND), 5 * SECOND);
      pulumi.config["webhooks:baseUrl"] = { value: other.url };
      expect(await run(pulumi, { clock })).toBe("undecided");
      expect(clock.skippedMs()).toBe(0);
    } finally {
      await other.close();
    }
  });
});

it("recover leaves an interrupted adoption to the next up, and gives its endpoint to no other registration", async () => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  const clock = skippingClock();
  const pulumi = pulumiWith([interrupted("a", { adoptId: id }), interrupted("b")]);
  expect(await run(pulumi, { clock })).toBe("done");
  expect(recoveredBy(pulumi)).toEqual([]);
  expect(said.join("\n")).toMatch(new RegExp(`a .*adopt ${id}.*\n.*b .*never completed`));
});

it("recover looks for what a run registered after it had deleted the endpoint that adoptId names", async () => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([interrupted("a", { adoptId: "wh_deleted" })]);
  expect(await run(pulumi)).toBe("done");
  expect(recoveredBy(pulumi)).toEqual([id]);
});

it("recover looks for what a replacement registered though its adoptId is still there", async () => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  const old = emulator.add({ url: "https://old.example.com/", type: "production" });
  const { resource } = interrupted("a", { url: old.url });
  const own = { ...resource, id: old.id, created: new Date(Date.now() - 50_000).toISOString() };
  const pulumi = pulumiWith([interrupted("a", { adoptId: old.id })], [own]);
  expect(await run(pulumi)).toBe("done");
  expect(recoveredBy(pulumi)).toEqual([id, old.id]);
});

describe("the account of an interrupted registration", () => {
  const providerUrn = "urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs";
  const providerOf = (urn: string, inputs: object) => ({
    urn,
    id: "p",
    type: "pulumi:providers:pulumi-nodejs",
    inputs,
  });
  const ofProvider = (urn: string) => {
    const { type, resource } = interrupted("a");
    return [{ type, resource: { ...resource, provider: `${urn}::p` } }];
  };

  it.each(["default-account", "default_eu", "defaults"])(
    "recover looks in the account of the explicit provider %s, though its name begins with default",
    async (name) => {
      const other = await startEmulator({ apiKey: "key-of-the-provider" });
      try {
        const { id } = other.add({ url: "https://a.example.com/", type: "production" });
        const urn = `${providerUrn}::${name}`;
        const inputs = { "webhooks:baseUrl": other.url, "webhooks:apiKey": "key-of-the-provider" };
        const pulumi = pulumiWith(ofProvider(urn), [providerOf(urn, inputs)]);
        expect(await run(pulumi)).toBe("done");
        expect(recoveredBy(pulumi)).toEqual([id]);
        expect(emulator.requests).toEqual([]);
      } finally {
        await other.close();
      }
    },
  );

  it.each(["default", "default_3_248_0", "default_1_2_3_alpha"])(
    "recover looks in the account of the stack's configuration if the provider is the engine's own %s",
    async (name) => {
      const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
      const urn = `${providerUrn}::${name}`;
      const pulumi = pulumiWith(ofProvider(urn), [providerOf(urn, { "webhooks:apiKey": "an old key" })]);
      expect(await run(pulumi)).toBe("done");
      expect(recoveredBy(pulumi)).toEqual([id]);
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
    const native = { urn, id: "p", type: "pulumi:providers:webhooks", inputs };
    const pulumi = pulumiWith(ofProvider(urn), [native]);
    await expect(run(pulumi)).rejects.toThrow(/timeoutSeconds must be .*SETTINGS_INVALID/);
  });

  it("recover changes nothing if the explicit provider is not in the state", async () => {
    const pulumi = pulumiWith(ofProvider(`${providerUrn}::gone`));
    await expect(run(pulumi)).rejects.toThrow(/STATE_UNREADABLE/);
    expect(pulumi.imported).toBeUndefined();
  });
});

it.each<[string, (pulumi: FakePulumi) => void, RegExp]>([
  [
    "the state changes in the meantime",
    (pulumi) => {
      pulumi.meanwhile = () => {
        pulumi.state = { deployment: { ...pulumi.state.deployment, changed: true } };
      };
    },
    /STATE_CHANGED/,
  ],
  [
    "the stack is locked",
    (pulumi) => {
      pulumi.refusal = "error: the stack is currently locked by 1 lock(s)";
    },
    /pulumi cancel.*STACK_LOCKED/,
  ],
  [
    "the import is refused",
    (pulumi) => {
      pulumi.refusal = "error: snapshot integrity failure";
    },
    /snapshot integrity failure.*PULUMI_FAILED/s,
  ],
  [
    "the key is missing",
    (pulumi) => {
      delete pulumi.config["webhooks:apiKey"];
    },
    /API key is missing.*SETTINGS_INVALID/,
  ],
  [
    "the state has an unknown shape",
    (pulumi) => {
      pulumi.state = { deployment: { pending_operations: [interrupted("a", { url: 7 })] } };
    },
    /STATE_UNREADABLE/,
  ],
])("recover changes nothing and leaves no backup when %s", async (_, spoil, message) => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([interrupted("a")]);
  spoil(pulumi);
  await expect(run(pulumi)).rejects.toThrow(message);
  expect(pulumi.imported).toBeUndefined();
  expect(backups()).toEqual([]);
});
