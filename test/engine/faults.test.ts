import { createServer } from "node:http";
import { type Emulator, type Misbehaviour, startEmulator } from "../../src/emulator";
import { type Declared, Project } from "./project";

jest.setTimeout(300_000);

let emulator: Emulator;
let project: Project;

async function start(options: Parameters<typeof startEmulator>[0] = {}): Promise<void> {
  emulator = await startEmulator(options);
  project = new Project({
    config: {
      "webhooks:baseUrl": emulator.url,
      "webhooks:apiKey": emulator.apiKey,
      "webhooks:timeoutSeconds": "5",
    },
  });
}

afterEach(async () => {
  project.dispose();
  await emulator.close();
});

const endpoints = (count: number): Declared =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `e${index}`,
      { url: `https://hooks.example.com/${index}`, type: "production" },
    ]),
  );

/** Holds the state, the service and the program against each other. */
async function expectExactly(declared: Declared): Promise<void> {
  const recorded = Object.values(await project.endpoints()).map(({ id }) => id);
  const registered = emulator.endpoints();
  expect(recorded.sort()).toEqual(registered.map(({ id }) => id).sort());
  expect(registered.map(({ url }) => url).sort()).toEqual(
    Object.values(declared)
      .map(({ url }) => url)
      .sort(),
  );
}

const faults: Record<string, Misbehaviour> = {
  "reset before": { kind: "reset-before" },
  "reset after": { kind: "reset-after" },
  "hang after": { kind: "hang-after" },
  "late commit": { kind: "late-commit", delayMs: 2_000 },
  "commit after our time-out": { kind: "late-commit", delayMs: 7_000 },
  "502 after": { kind: "status", status: 502, effect: true },
  "503 before": { kind: "status", status: 503 },
  truncated: { kind: "truncated" },
  malformed: { kind: "malformed" },
  empty: { kind: "empty" },
};

it("every way to lose the answer to a registration ends with exactly what is declared", async () => {
  await start();
  const declared = endpoints(Object.keys(faults).length + 2);
  for (const fault of Object.values(faults)) emulator.fault({ ...fault, operation: "register" });
  project.declare(declared);
  const first = await project.pulumi("up", "--yes", "--skip-preview");
  expect(first.exitCode).not.toBe(0);
  expect(first.output).toMatch(
    /the registration of https:\/\/hooks\.example\.com\/… was sent.*REGISTRATION_PENDING/,
  );
  expect(first.output).not.toMatch(/\n\s+at /);

  await project.pulumi("up", "--yes", "--skip-preview");
  await project.up();
  await expectExactly(declared);
  expect(emulator.requests.filter(({ operation }) => operation === "delete")).toEqual([]);
});

it("a pending registration is settled by refresh and by destroy", async () => {
  await start();
  project.declare({ ...endpoints(2) });
  emulator.fault({ operation: "register", kind: "late-commit", delayMs: 7_000, times: 2 });
  await project.pulumi("up", "--yes", "--skip-preview");
  while (emulator.endpoints().length < 2) await new Promise((resolve) => setTimeout(resolve, 100));
  await project.refresh("--target", project.urn("e0"));
  const { e0 } = await project.endpoints();
  expect(emulator.endpoints().map(({ id }) => id)).toContain(e0?.id);
  await project.destroy();
  await expectExactly({});
});

it("a refresh of 200 endpoints among 5,000 others takes at most three requests, also with --parallel 1", async () => {
  await start();
  emulator.fault({ operation: "any", kind: "delay", delayMs: 50, times: Number.POSITIVE_INFINITY });
  for (let index = 0; index < 5_000; index++)
    emulator.add({ url: `https://others.example.com/${index}`, type: "production" });
  const others = emulator.endpoints().length;
  project.declare(endpoints(200));
  await project.up();
  const registered = emulator.endpoints().slice(others);
  expect(registered).toHaveLength(200);

  const { id = "" } = registered[7] ?? {};
  emulator.remove(id);
  for (const args of [[], ["--parallel", "1"]]) {
    emulator.clearRequests();
    await project.refresh(...args);
    expect(emulator.requests.length).toBeLessThanOrEqual(3);
    expect(emulator.requests.every(({ method }) => method === "GET")).toBe(true);
    expect(Object.keys(await project.endpoints())).toHaveLength(199);
  }
  await project.destroy();
  expect(emulator.endpoints()).toHaveLength(others);
});

it("a service that allows few requests a second is waited for, and the run says so", async () => {
  await start();
  const headers = { "retry-after": "1" };
  emulator.fault({ operation: "register", kind: "status", status: 429, headers, after: 10, times: 20 });
  const declared = endpoints(60);
  project.declare(declared);
  const output = await project.up();
  expect(output).toMatch(/register waits \d+ s: the service answered 429/);
  await expectExactly(declared);
  const refused = emulator.requests.filter(({ statusCode }) => statusCode === 429);
  expect(refused.length).toBeLessThan(60);
  await project.destroy();
  await expectExactly({});
});

it("no event is missed while a url is replaced under load", async () => {
  await start();
  const seen = new Set<unknown>();
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => {
      seen.add(request.headers["webhook-id"]);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const address = receiver.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const declare = (path: string) =>
    project.declare({ jobs: { url: `http://127.0.0.1:${port}/${path}`, type: "development" } });
  try {
    declare("old");
    await project.up();
    const before = emulator.endpoints()[0]?.id;

    const sent: Promise<{ id: string }>[] = [];
    const load = setInterval(
      () =>
        sent.push(
          emulator.deliver({ type: "job.running", data: { jobId: `${sent.length}`, status: "running" } }),
        ),
      5,
    );
    declare("new");
    await project.up();
    clearInterval(load);
    expect(emulator.endpoints().map(({ url }) => url)).toEqual([`http://127.0.0.1:${port}/new`]);
    expect(emulator.endpoints()[0]?.id).not.toBe(before);
    const events = await Promise.all(sent);
    expect(events.length).toBeGreaterThan(100);
    expect(events.filter(({ id }) => !seen.has(id))).toEqual([]);
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
});
