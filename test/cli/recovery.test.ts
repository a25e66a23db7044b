import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chdir, cwd } from "node:process";
import type { Pulumi } from "../../src/cli/pulumi";
import { recover } from "../../src/cli/recovery";
import { type Emulator, startEmulator } from "../../src/emulator";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/endpoint/permanent";
import { FakePulumi } from "./fakePulumi";

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
let folder: string;
const home = cwd();
let said: string[];

beforeEach(async () => {
  emulator = await startEmulator();
  folder = mkdtempSync(join(tmpdir(), "recovery-"));
  chdir(folder);
  said = [];
});
afterEach(async () => {
  chdir(home);
  rmSync(folder, { recursive: true, force: true });
  await emulator.close();
});

const pending = (name: string, inputs: object = {}, type = TYPE_TOKEN) => ({
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

/** Recovers, with a person at the terminal who gives these answers. */
function run(pulumi: Pulumi, answers?: string[]): Promise<"done" | "undecided"> {
  const ask = async (question: string) => {
    said.push(question);
    return answers?.shift() ?? "";
  };
  return recover({
    pulumi,
    yes: answers === undefined,
    environment: {},
    dialogue: { say: (line) => said.push(line), ...(answers ? { ask } : {}) },
  });
}

const saved = () => readdirSync(folder);

it("mends the state once it is told to, and keeps the old one where nobody else can read it", async () => {
  const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([pending("a")]);
  expect(await run(pulumi, ["y"])).toBe("done");
  expect(recoveredBy(pulumi)).toEqual([id]);
  const [file = ""] = saved();
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(pulumi.state);
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
});

it.each(["n", "", "maybe"])("changes nothing when the answer is %j", async (answer) => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([pending("a")]);
  expect(await run(pulumi, [answer])).toBe("undecided");
  expect(pulumi.imported).toBeUndefined();
  expect(saved()).toEqual([]);
});

describe("where more than one endpoint could be it", () => {
  let ids: string[];
  let pulumi: FakePulumi;
  beforeEach(() => {
    ids = [1, 2].map(() => emulator.add({ url: "https://a.example.com/", type: "production" }).id);
    pulumi = pulumiWith([pending("a")]);
  });

  it("takes the one that a person names", async () => {
    expect(await run(pulumi, [ids[1] ?? "", "yes"])).toBe("done");
    expect(recoveredBy(pulumi)).toEqual([ids[1]]);
    for (const id of ids) expect(said.join("\n")).toContain(id);
  });

  it("takes none where a person says so, and lets the next up register one", async () => {
    expect(await run(pulumi, ["none", "yes"])).toBe("done");
    expect(recoveredBy(pulumi)).toEqual([]);
  });

  it.each([["another id"], ["no answer", ""]])("changes nothing for %s", async (_, answer = "wh_other") => {
    expect(await run(pulumi, [answer, "yes"])).toBe("undecided");
    expect(pulumi.imported).toBeUndefined();
  });

  it("changes nothing where nobody can be asked", async () => {
    expect(await run(pulumi)).toBe("undecided");
    expect(pulumi.imported).toBeUndefined();
    expect(saved()).toEqual([]);
  });
});

it("does not give one endpoint to two registrations that a person decides on", async () => {
  const [one, two] = [1, 2, 3].map(
    () => emulator.add({ url: "https://a.example.com/", type: "production" }).id,
  );
  const pulumi = pulumiWith([pending("a"), pending("b")]);
  expect(await run(pulumi, [one ?? "", one ?? "", "yes"])).toBe("undecided");
  expect(await run(pulumi, [one ?? "", two ?? "", "yes"])).toBe("done");
  expect(recoveredBy(pulumi).sort()).toEqual([one, two].sort());
});

it("does not make Pulumi forget what else is pending, unless a person agrees", async () => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([pending("a"), pending("bucket", {}, "aws:s3/bucket:Bucket")]);
  expect(await run(pulumi)).toBe("undecided");
  expect(said.join("\n")).toMatch(/::bucket is pending too/);
  expect(pulumi.imported).toBeUndefined();
  expect(await run(pulumi, ["y"])).toBe("done");
});

it("leaves a duplicate of what a later run registered for the next up to delete", async () => {
  const left = emulator.add({ url: "https://a.example.com/", type: "production" });
  const own = emulator.add({ url: "https://a.example.com/", type: "production" });
  const { resource } = pending("a");
  const pulumi = pulumiWith([pending("a")], [{ ...resource, id: own.id, created: new Date().toISOString() }]);
  expect(await run(pulumi)).toBe("done");
  const { resources } = JSON.parse(pulumi.imported ?? "").deployment;
  expect(
    resources.slice(1).map(({ id, delete: gone = false }: { id: string; delete?: boolean }) => [id, gone]),
  ).toEqual([
    [own.id, false],
    [left.id, true],
  ]);
});

describe("when a run has ended since the stack was made", () => {
  const second = 1_000;
  const since = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();
  /** A state written so long ago, after a run that ended so long ago. */
  function pulumiAfter(ended: number, written: number): FakePulumi {
    const pulumi = pulumiWith([pending("a")]);
    pulumi.state.deployment.manifest = { time: since(written) };
    return new FakePulumi(pulumi.state, pulumi.config, [{ endTime: since(ended) }]);
  }

  it("takes what was made after it for the killed run's, when the killed run was the last one", async () => {
    const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
    const pulumi = pulumiAfter(30 * second, 5 * second);
    expect(await run(pulumi)).toBe("done");
    expect(recoveredBy(pulumi)).toEqual([id]);
  });

  it("asks about what was made before it, or when another run came last", async () => {
    const { id } = emulator.add({ url: "https://a.example.com/", type: "production" });
    for (const pulumi of [pulumiAfter(-30 * second, -40 * second), pulumiAfter(5 * second, 5 * second)]) {
      expect(await run(pulumi)).toBe("undecided");
      expect(pulumi.imported).toBeUndefined();
      expect(said.join("\n")).toContain(id);
      expect(said.join("\n")).not.toMatch(/never made/);
      expect(await run(pulumi, [id, "y"])).toBe("done");
      expect(recoveredBy(pulumi)).toEqual([id]);
      for (const file of saved()) rmSync(file);
    }
  });

  it("says that it was never made when the service has none like it", async () => {
    expect(await run(pulumiAfter(5 * second, 5 * second))).toBe("done");
    expect(said.join("\n")).toMatch(/never made/);
  });
});

it.each<[string, (pulumi: FakePulumi) => void, RegExp]>([
  [
    "the state changes meanwhile",
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
    "the state is of no known shape",
    (pulumi) => {
      pulumi.state = { deployment: { pending_operations: [pending("a", { url: 7 })] } };
    },
    /STATE_UNREADABLE/,
  ],
])("changes nothing and leaves no file when %s", async (_, spoil, message) => {
  emulator.add({ url: "https://a.example.com/", type: "production" });
  const pulumi = pulumiWith([pending("a")]);
  spoil(pulumi);
  await expect(run(pulumi)).rejects.toThrow(message);
  expect(pulumi.imported).toBeUndefined();
  expect(saved()).toEqual([]);
});
