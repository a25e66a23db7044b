import { type Emulator, startEmulator } from "../../src/emulator";
import { Project, type StateResource } from "./project";

jest.setTimeout(300_000);

let emulator: Emulator;
let project: Project;

async function start(): Promise<void> {
  emulator = await startEmulator();
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
}

async function stop(): Promise<void> {
  project.dispose();
  await emulator.close();
}

/** The lines of a command's output that say what is wrong, by the resource that they are about. */
function problemsIn(output: string): Record<string, string[]> {
  const problems: Record<string, string[]> = {};
  const details = output.slice(output.indexOf("Diagnostics:"));
  let about = "";
  for (const line of details.split("\n")) {
    about = /^ {2}\S+ \((\S+)\):$/.exec(line)?.[1] ?? about;
    const problem = /^ {4}error: (.*)$/.exec(line)?.[1];
    if (problem) problems[about] = [...(problems[about] ?? []), problem];
  }
  return problems;
}

/** The ids in a state, by the name of their resource. */
function idsIn(endpoints: Record<string, StateResource>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(endpoints).map(([name, { id }]) => [name, id]));
}

describe("what is invalid in a program", () => {
  // For all of them: a preview leaves nothing.
  beforeAll(start);
  afterAll(stop);
  beforeEach(() => emulator.clearRequests());

  it("the preview reports every problem of the arguments at once and sends nothing", async () => {
    project.declare({
      bad: { url: "/hush", type: "hush", ip: "hush", adoptId: "hush hush", ifExists: "hush", IP: "hush" },
    });
    const { exitCode, output } = await project.pulumi("preview");
    expect(exitCode).not.toBe(0);
    // The engine stops at the first resource that has problems.
    expect(problemsIn(output)).toEqual({ bad: Array(6).fill(expect.any(String)) });
    for (const problem of [
      "url must be an absolute URL",
      'type must be "production" or "development"',
      "ip must be an IPv4 or IPv6 address",
      "adoptId must be the id of an endpoint",
      'ifExists must be "warn", "fail" or "register"',
      "IP is not an argument of an endpoint; use ",
    ])
      expect(problemsIn(output).bad).toContainEqual(expect.stringContaining(problem));
    expect(output).not.toMatch(/hush|\n\s+at /);
    expect(emulator.requests).toEqual([]);
  });

  test.each([
    'WebhookEndpoint.get("read", "")',
    'WebhookEndpoint.get("read", "..")',
    'getWebhookEndpoint({ id: "" })',
    'exports.found = getWebhookEndpoint({ id: ".." })',
  ])("the preview reports an invalid id and sends nothing: %s", async (program) => {
    project.program(program);
    const { exitCode, output } = await project.pulumi("preview");
    expect(exitCode).not.toBe(0);
    expect(output).toMatch(
      /error: .*(is not a valid id|is empty)\. Pass the id that the service (issued|returned)/,
    );
    expect(output).not.toMatch(/\n\s+at |PromiseRejectionHandledWarning/);
    expect(emulator.requests).toEqual([]);
  });

  it("an argument that the service might still accept gets a warning", async () => {
    project.declare({
      plain: { url: "http://hooks.example.com/", type: "production" },
      private: { url: "https://10.1.2.3/", type: "production" },
      local: { url: "http://localhost:3000/", type: "development" },
    });
    const output = await project.preview();
    const warnings = output.match(/(?<=^ +warning: ).*$/gm);
    expect(warnings?.sort()).toEqual([
      expect.stringContaining("the production endpoint http://hooks.example.com/… uses plain http"),
      expect.stringContaining("the production endpoint https://10.1.2.3/… has a loopback or private host"),
    ]);
  });
});

describe("settings", () => {
  beforeAll(start);
  afterAll(stop);

  /** What names every place where a setting can be set. */
  const places = (name: string) => {
    const variable = `WEBHOOKS_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
    return new RegExp(
      `pulumi config set (--secret )?webhooks:${name} .*${variable}.*${name} of a WebhooksProvider`,
    );
  };

  it("a missing setting is named with every place to set it", async () => {
    const bare = new Project();
    try {
      bare.declare({ a: { url: "https://hooks.example.com", type: "production" } });
      const { exitCode, output } = await bare.pulumi("preview");
      expect(exitCode).not.toBe(0);
      const problems = problemsIn(output).a?.join("\n") ?? "";
      expect(problems).toMatch(places("baseUrl"));
      expect(problems).toMatch(places("apiKey"));
      expect(output).not.toMatch(/\n\s+at /);

      bare.program(`
const provider = new WebhooksProvider("account", { baseUrl: "https://hooks.example.com", apiKey: pulumi.output(undefined) });
new WebhookEndpoint("a", { url: "https://hooks.example.com", type: "production" }, { provider });`);
      const unset = await bare.pulumi("preview");
      expect(problemsIn(unset.output).a?.join("\n")).toMatch(places("apiKey"));

      bare.program("getWebhookEndpoints();");
      const query = await bare.pulumi("preview");
      expect(query.output).toMatch(places("apiKey"));
      expect(query.output).not.toMatch(/\n\s+at /);
    } finally {
      bare.dispose();
    }
  });

  it("a setting that the configuration lacks comes from the environment", async () => {
    const { url: WEBHOOKS_BASE_URL, apiKey: WEBHOOKS_API_KEY } = emulator;
    const configured = new Project({ env: { WEBHOOKS_BASE_URL, WEBHOOKS_API_KEY } });
    try {
      configured.declare({ a: { url: "https://hooks.example.com", type: "production" } });
      await configured.up();
      expect(emulator.endpoints()).toHaveLength(1);
      await configured.destroy();
      expect(emulator.endpoints()).toEqual([]);
      emulator.clearRequests();
    } finally {
      configured.dispose();
    }
  });

  it("a wrong path in the base URL is one warning in the preview, because the program may deploy the service, and an error in up", async () => {
    project.inlineProgram(`
const provider = new WebhooksProvider("account", { baseUrl: ${JSON.stringify(`${emulator.url}/wrong`)} });
for (const name of ["a", "b"])
  new WebhookEndpoint(name, { url: "https://hooks.example.com/" + name, type: "production" }, { provider });`);
    const output = await project.preview();
    expect(output.match(/(?<=^ +warning: ).*$/gm)).toEqual([
      expect.stringMatching(/answered with 404\. .*check baseUrl\. If this program also deploys the service/),
    ]);
    const { exitCode, output: failed } = await project.pulumi("up", "--yes", "--skip-preview");
    expect(exitCode).not.toBe(0);
    expect(problemsIn(failed).a).toEqual([expect.stringMatching(/check baseUrl.*\(REJECTED\)$/)]);
    await project.destroy();
    emulator.clearRequests();
  });

  it("settings that are malformed are named in the preview, and nothing is sent", async () => {
    const settings = {
      baseUrl: "hooks.example.com/hush",
      apiKey: "hush\nhush",
      apiKeyHeader: "X hush",
      apiKeyScheme: "Bearer hush",
      timeoutSeconds: -1,
    };
    project.inlineProgram(`
const provider = new WebhooksProvider("account", ${JSON.stringify(settings)});
new WebhookEndpoint("bad", { url: "https://hooks.example.com", type: "production" }, { provider });`);
    const { exitCode, output } = await project.pulumi("preview");
    expect(exitCode).not.toBe(0);
    const { bad = [], ...others } = problemsIn(output);
    expect(others).toEqual({});
    expect(bad).toHaveLength(5);
    for (const [name, problem] of [
      ["baseUrl", "must be an absolute URL"],
      ["apiKey", "must be a non-empty string without line breaks"],
      ["apiKeyHeader", "must name a header"],
      ["apiKeyScheme", "must be one word"],
      ["timeoutSeconds", "must be a number of seconds above 0"],
    ] as const)
      expect(bad.find((line) => line.includes(`${name} ${problem}`))).toMatch(places(name));
    expect(output).not.toMatch(/hush|\n\s+at /);
    expect(emulator.requests).toEqual([]);
  });
});

describe("a key that the service refuses", () => {
  beforeEach(start);
  afterEach(stop);

  it("a refused key fails the preview with the cause and the next step", async () => {
    await project.setConfig("webhooks:apiKey", "wrong-key");
    project.declare({ a: { url: "https://hooks.example.com", type: "production" } });
    for (const command of [["preview"], ["up", "--yes", "--skip-preview"]]) {
      const { exitCode, output } = await project.pulumi(...command);
      expect(exitCode).not.toBe(0);
      const { a = [] } = problemsIn(output);
      expect(a).toEqual([expect.stringMatching(/answered with 401.*X-Api-Key.*\(KEY_REFUSED\)$/)]);
      expect(output).not.toMatch(/UNAUTHORIZED/); // one code is enough
      expect(output).not.toMatch(/wrong-key|\n\s+at /);
    }
    expect(emulator.requests.map(({ method }) => method)).not.toContain("POST");
  });

  it("after a key rotation, up replaces nothing, and a command with the old key fails, loses nothing and says what to do", async () => {
    const declared = {
      a: { url: "https://hooks.example.com/a", type: "production" },
      b: { url: "https://hooks.example.com/b", type: "production" },
      c: { url: "https://hooks.example.com/c", type: "production" },
    };
    project.declare(declared);
    await project.up();
    const before = await project.endpoints();
    emulator.rotateKey(emulator.apiKey, "second-key");
    await project.setConfig("webhooks:apiKey", "second-key");
    emulator.clearRequests();
    for (const command of ["refresh", "destroy"]) {
      const { exitCode, output } = await project.pulumi(command, "--yes", "--skip-preview");
      expect(exitCode).not.toBe(0);
      expect(output).toMatch(/KEY_REFUSED/);
      expect(output).toMatch(/run `pulumi up` before them, or add --run-program/);
      expect(output).not.toMatch(/\n\s+at /);
      expect(idsIn(await project.endpoints())).toEqual(idsIn(before));
    }
    expect(emulator.endpoints()).toHaveLength(3);
    expect(await project.refresh("--run-program")).toMatch(/4 unchanged/);
    await project.up();
    expect(
      emulator.requests.filter(({ method, statusCode }) => method !== "GET" && statusCode !== 401),
    ).toEqual([]);
    expect(await project.refresh()).toMatch(/4 unchanged/);

    emulator.rotateKey("second-key", "third-key");
    await project.setConfig("webhooks:apiKey", "third-key");
    expect(await project.up()).toMatch(/4 unchanged/);
    emulator.rotateKey("third-key", "fourth-key");
    await project.setConfig("webhooks:apiKey", "fourth-key");
    await project.destroy("--run-program");
    expect(emulator.endpoints()).toEqual([]);
    for (const text of [project.transcript, project.filesAtRest()]) {
      expect(text).not.toMatch(/emulator-api-key|(second|third|fourth)-key/);
    }
  });

  it("a key that seems to belong to another account gets a warning", async () => {
    project.declare({
      a: { url: "https://hooks.example.com/a", type: "production" },
      b: { url: "https://hooks.example.com/b", type: "production" },
      c: { url: "https://hooks.example.com/c", type: "production" },
    });
    await project.up();
    for (const { id } of emulator.endpoints()) emulator.remove(id);
    expect(await project.preview("--refresh")).toMatch(/the API key may belong to another account/);
  });
});

describe("another base URL", () => {
  beforeEach(start);
  afterEach(stop);

  it("another base URL is not drift: nothing is dropped, nothing counts as deleted, and the error says so", async () => {
    const elsewhere = await startEmulator();
    try {
      project.declare({
        a: { url: "https://hooks.example.com/a", type: "production" },
        b: { url: "https://hooks.example.com/b", type: "production" },
      });
      await project.up();
      const before = await project.endpoints();
      await project.setConfig("webhooks:baseUrl", elsewhere.url);
      for (const args of [["refresh", "--run-program"], ["destroy", "--run-program"], ["up"]]) {
        const { exitCode, output } = await project.pulumi(...args, "--yes", "--skip-preview");
        expect(exitCode).not.toBe(0);
        expect(output).toMatch(/OTHER_BASE_URL/);
        expect(idsIn(await project.endpoints())).toEqual(idsIn(before));
      }
      const { exitCode, output } = await project.pulumi("preview");
      expect(exitCode).not.toBe(0);
      expect(output).toContain(emulator.url);
      expect(output).toContain(elsewhere.url);
      expect(elsewhere.endpoints()).toEqual([]);
      expect(emulator.endpoints()).toHaveLength(2);

      await project.setConfig("webhooks:baseUrl", emulator.url);
      expect(await project.up()).toMatch(/3 unchanged/);
      expect(emulator.endpoints()).toHaveLength(2);
    } finally {
      await elsewhere.close();
    }
  });
});
