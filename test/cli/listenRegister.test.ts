import { readdirSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { type Emulator, startEmulator } from "../../src/emulator";
import { Book } from "../../src/settlement/book";
import { receiver } from "../emulator/receiver";
import { API_KEY, cleanUp, makeFolder, SECRET, type Started } from "./commandLine";
import { addressOf, listen, send } from "./listening";

const PUBLIC_URL = "http://127.0.0.1:9/jobs";

let emulator: Emulator;
const fronts: Server[] = [];
beforeEach(async () => {
  emulator = await startEmulator({ apiKey: API_KEY, secrets: SECRET });
});
afterEach(async () => {
  await cleanUp();
  for (const front of fronts.splice(0)) {
    front.closeAllConnections();
    front.close();
  }
  await emulator.close();
});

/** Starts to listen with a registration, by the settings of the environment. */
function register(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Started {
  const settings = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: API_KEY, ...env };
  const url = args.includes("--register") ? [] : ["--register", PUBLIC_URL];
  return listen([...url, ...args], settings);
}

/** A service in front of the emulator, which answers a request itself if it wants to. */
async function inFront(
  answer: (request: IncomingMessage) => string | undefined,
  isUnknown: (request: IncomingMessage) => boolean = () => false,
): Promise<string> {
  const service = createServer((request, response) => {
    if (isUnknown(request)) {
      response.writeHead(404).end();
      return;
    }
    const own = answer(request);
    if (own !== undefined) {
      request.resume();
      response
        .writeHead(own.startsWith("[") ? 200 : 201, own === "[]" ? { link: '</2>; rel="next"' } : {})
        .end(own);
      return;
    }
    const { method = "", url = "" } = request;
    const body = method === "POST" ? Readable.toWeb(request) : null;
    const forwarded = { method, headers: { "X-Api-Key": API_KEY }, body, duplex: "half" } as RequestInit;
    void fetch(`${emulator.url}${url}`, forwarded).then(async (came) => {
      response.writeHead(came.status).end(await came.text());
    });
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  fronts.push(service);
  return `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
}
const isList = ({ method, url }: IncomingMessage) => method === "GET" && url === "/webhooks";

test("listen --register names the url that the endpoint of a service had that keeps one for each account", async () => {
  const { id } = emulator.add({ url: "https://prod.example.com/jobs", type: "development" });
  const url = await inFront(({ method }) =>
    method === "POST" ? JSON.stringify({ id, url: PUBLIC_URL, type: "development" }) : undefined,
  );
  const started = register([], { WEBHOOKS_BASE_URL: url });
  await addressOf(started);
  const { status, stderr } = await started.signal("SIGINT");
  expect([status, emulator.endpoints().map((each) => each.id)]).toEqual([0, [id]]);
  expect(stderr).toContain(`has changed the url of ${id}, which was https://prod.example.com/…`);
  expect(stderr).toContain(`The service already had ${id}, and answered with that, so it stays`);
});

test.each([
  "the whole list",
  "a list that lacks it, because it is a part",
  "a list that lacks it, because it lags",
])("listen --register leaves an endpoint of a service that keeps one for each url, by %s", async (list) => {
  const { id } = emulator.add({ url: PUBLIC_URL, type: "production", createdAt: "2026-01-31T12:34:56Z" });
  const url = await inFront((request) => {
    if (request.method === "POST") return JSON.stringify({ id, url: PUBLIC_URL, type: "production" });
    if (!isList(request) || list === "the whole list") return undefined;
    return list.endsWith("part") ? "[]" : "[ ]";
  });
  const started = register([], { WEBHOOKS_BASE_URL: url });
  await addressOf(started);
  const { status, stderr } = await started.signal("SIGINT");
  expect([status, emulator.endpoints().map((each) => each.id)]).toEqual([0, [id]]);
  expect(stderr).toContain(
    `The service already had ${id} with this url, and answered with that, so it stays`,
  );
  expect(stderr).not.toMatch(/once more|before anything was registered/);
});

test.each([true, false])(
  "listen --register deletes its endpoint at a service that lists only a part, if its time tells that it is new: %p",
  async (tells) => {
    const url = await inFront((request) => {
      if (isList(request)) return "[]";
      if (request.method !== "GET" || tells) return undefined;
      const { createdAt, ...untold } = emulator.endpoints()[0] ?? {};
      return JSON.stringify(untold);
    });
    const started = register([], { WEBHOOKS_BASE_URL: url });
    await addressOf(started);
    const { status, stderr } = await started.signal("SIGINT");
    expect([status, emulator.endpoints().length]).toEqual([0, tells ? 0 : 1]);
    expect(stderr).toMatch(tells ? /^Registered wh_/m : /nothing tells whether it is new.*delete it with/);
  },
);

test.each(["succeeds", "fails"])(
  "the first line of listen is its address, also if deliveries come during a registration that %s",
  async (end) => {
    const port = await freePort();
    let answered: Promise<Response> | undefined;
    const url = await inFront(() => {
      answered ??= send(`http://127.0.0.1:${port}/`);
      return undefined;
    });
    emulator.fault({ operation: "list", kind: "delay", delayMs: 500 });
    if (end === "fails") emulator.fault({ operation: "register", kind: "status", status: 400 });
    const args = ["--json", "--port", String(port), "--save", join(makeFolder({}), "saved")];
    const started = register(args, { WEBHOOKS_BASE_URL: url });
    await started.until(/"msg_1"/);
    expect((await answered)?.status).toBe(200);
    const { stdout } = end === "fails" ? await started.ended : await started.signal("SIGINT");
    const [first = "", second = "", third = "{}"] = stdout.split("\n");
    expect(JSON.parse(first)).toEqual({ url: `http://127.0.0.1:${port}` });
    expect(JSON.parse(second)).toMatchObject({ id: "msg_1", capture: expect.stringContaining("msg_1") });
    if (end === "fails") expect(JSON.parse(third)).toMatchObject({ error: {} });
  },
);

test("listen that is stopped before its registration still prints and saves what it has answered with 200", async () => {
  const port = await freePort();
  const saved = join(makeFolder({}), "saved");
  emulator.fault({ operation: "list", kind: "delay", delayMs: 20_000 });
  const started = register(["--json", "--port", String(port), "--save", saved]);
  await started.untilTrue(() => emulator.requests.length > 0);
  expect((await send(`http://127.0.0.1:${port}/`)).status).toBe(200);
  const { stdout, stderr } = await started.signal("SIGINT");
  expect(stderr).toMatch(/Stopped before anything was registered/);
  expect(stdout).toContain('"msg_1"');
  expect(readdirSync(saved)).toHaveLength(1);
});

describe("with --register", () => {
  test.each([false, true])(
    "listen leaves its endpoint to a stack that has adopted it meanwhile (closed: %p), and says so",
    async (closed) => {
      const home = makeFolder({});
      // Without Pulumi's command, which would be installed anew there.
      const started = register([], { PULUMI_HOME: home, PATH: dirname(process.execPath) });
      await addressOf(started);
      const [endpoint] = emulator.endpoints();
      const origin = { service: "", fingerprint: "", provider: "", ip: "", run: "1", sender: "1" };
      const stack = { urn: "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev", backend: "" };
      const adopted = { id: endpoint?.id ?? "", adopted: true, closed };
      new Book({ PULUMI_HOME: home }, (problem) => {
        throw new Error(problem);
      }).begin({ ...origin, stack, ...adopted }, { url: PUBLIC_URL, type: "development" });
      const { status, stderr } = await started.signal("SIGINT");
      expect(status).toBe(0);
      expect(stderr).toContain(`${endpoint?.id} stays: a stack has adopted it.`);
      expect(stderr).not.toContain("before anything was registered");
      expect(emulator.endpoints()).toEqual([endpoint]);
    },
  );

  test.each(["SIGINT", "SIGTERM"] as const)(
    "listen registers a development endpoint, and deletes it after %s",
    async (signal) => {
      const started = register();
      await addressOf(started);
      expect(emulator.endpoints()).toMatchObject([{ url: PUBLIC_URL, type: "development" }]);
      const { status, stderr } = await started.signal(signal);
      expect(status).toBe(0);
      expect(stderr).toMatch(/^Registered wh_\w+\. .*\nStopping\. .*\n$/);
      expect(emulator.endpoints()).toEqual([]);
    },
  );

  test("listen gets the deliveries of the service that it registered with", async () => {
    const port = await freePort();
    const started = register(["--port", String(port), "--register", `http://127.0.0.1:${port}/jobs`]);
    await addressOf(started);
    const job = await emulator.runJob({ jobId: "job_7" });
    expect(job.finished.delivered).toBe(true);
    const { stdout } = await started.signal("SIGINT");
    expect(stdout).toMatch(/job\.running {2}job_7 .*verified\n.*job\.succeeded {2}job_7 .*verified\n$/);
  });

  test("listen registers no url that a program cannot declare", async () => {
    const { status, stderr } = await register(["--register", `${PUBLIC_URL}#t0ken`]).ended;
    expect([status, emulator.endpoints()]).toEqual([1, []]);
    expect(stderr).toContain("--register must not contain a fragment (WRONG_USE)");
    expect(stderr).not.toContain("t0ken");
  });

  test("listen registers nothing when its port is taken", async () => {
    const { url } = await receiver();
    const { status, stdout, stderr } = await register(["--port", new URL(url).port]).ended;
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^error: cannot listen on port \d+ \(EADDRINUSE\)\. .*\(PORT_UNAVAILABLE\)\n$/);
    expect(emulator.requests).toEqual([]);
  });

  test.each([
    ["refuses the key", { WEBHOOKS_API_KEY: "wrong" }, "UNAUTHORIZED"],
    [
      "is unreachable",
      { WEBHOOKS_BASE_URL: "http://127.0.0.1:1", WEBHOOKS_TIMEOUT_SECONDS: "1" },
      "UNREACHABLE",
    ],
    ["has no settings", { WEBHOOKS_BASE_URL: "" }, "SETTINGS_INVALID"],
  ])("listen fails with one line when the service %s", async (_what, env, code) => {
    const { status, stdout, stderr } = await register([], env).ended;
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(new RegExp(`^error: .* \\(${code}\\)\n$`));
    expect(emulator.endpoints()).toEqual([]);
  });

  test("listen fails with one line when the service refuses the registration, and leaves nothing", async () => {
    emulator.fault({ operation: "register", kind: "status", status: 422 });
    const { status, stderr } = await register().ended;
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: .* \(REJECTED\)\n$/);
    expect(emulator.endpoints()).toEqual([]);
  });

  test.each([
    ["the connection breaks", { kind: "reset-after" }],
    ["the answer is a failure", { kind: "status", status: 500, effect: true }],
    ["the answer is empty", { kind: "empty" }],
  ] as const)("listen finds and deletes the endpoint of its registration when %s", async (_what, fault) => {
    const existing = emulator.add({ url: PUBLIC_URL, type: "development" });
    emulator.fault({ operation: "register", ...fault });
    const started = register();
    await addressOf(started);
    expect(started.stderr).toContain(`The service already has ${existing.id} with this url`);
    expect(started.stderr).toContain("The registration was not answered with an endpoint.");
    expect(emulator.endpoints()).toHaveLength(2);
    expect((await started.signal("SIGINT")).status).toBe(0);
    expect(emulator.endpoints()).toEqual([existing]);
  });

  test.each(["list", "register"] as const)(
    "listen leaves nothing when its first %s request is throttled and the answer to the registration is lost",
    async (operation) => {
      // For longer than clocks may differ.
      emulator.fault({ operation, kind: "status", status: 429, headers: { "retry-after": "7" } });
      emulator.fault({ operation: "register", kind: "reset-after", after: operation === "register" ? 1 : 0 });
      const started = register();
      await addressOf(started);
      expect(emulator.endpoints()).toHaveLength(1);
      expect((await started.signal("SIGINT")).status).toBe(0);
      expect(emulator.endpoints()).toEqual([]);
    },
  );

  test("listen fails when a registration was answered with a failure and made nothing", async () => {
    emulator.fault({ operation: "register", kind: "status", status: 500 });
    const { status, stdout, stderr } = await register().ended;
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/ \(SERVER_ERROR\)\n$/);
    expect(emulator.endpoints()).toEqual([]);
  });

  test("listen says what may be left when nothing shows what came of its registration", async () => {
    emulator.fault({ operation: "register", kind: "status", status: 500 });
    const started = register([], { WEBHOOKS_TIMEOUT_SECONDS: "1" });
    await started.until(/registration was not answered/);
    emulator.fault({ operation: "list", kind: "status", status: 400, times: Number.POSITIVE_INFINITY });
    const { status, stderr } = await started.ended;
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /\nerror: cannot tell whether the endpoint for http:\/\/127\.0\.0\.1:9\/… was registered\. .*prune.*\(REGISTRATION_LOST\)\n$/,
    );
  });

  test("Ctrl-C during a registration whose answer is lost leaves nothing", async () => {
    emulator.fault({ operation: "register", kind: "late-commit", delayMs: 2_000 });
    const started = register([], { WEBHOOKS_TIMEOUT_SECONDS: "1" });
    await started.until(/registration was not answered/);
    const { status, stderr } = await started.signal("SIGINT");
    expect([status, emulator.endpoints()]).toEqual([0, []]);
    expect(emulator.requests.filter(({ operation }) => operation === "delete")).toHaveLength(1);
    expect(stderr).toContain("To stop at once, press Ctrl-C again.");
  });

  test("Ctrl-C before anything was registered ends listen at once", async () => {
    emulator.fault({ operation: "list", kind: "hang-before" });
    const started = register();
    await started.untilTrue(() => emulator.requests.length > 0);
    const before = performance.now();
    const { status, stderr } = await started.signal("SIGINT");
    expect(performance.now() - before).toBeLessThan(60_000);
    expect([status, stderr]).toEqual([0, "Stopped before anything was registered.\n"]);
    expect(emulator.endpoints()).toEqual([]);
  });

  test("Ctrl-C while the service limits registrations ends listen at once, and sends no further one", async () => {
    const refusals = { status: 429, headers: { "retry-after": "5" }, times: Number.POSITIVE_INFINITY };
    emulator.fault({ operation: "register", kind: "status", ...refusals });
    const started = register();
    const registrations = () => emulator.requests.filter(({ operation }) => operation === "register");
    await started.untilTrue(() => registrations().length > 0);
    const { status, stderr } = await started.signal("SIGINT");
    expect([status, registrations().length]).toEqual([0, 1]);
    // It may have come before the refusal.
    expect(stderr).toMatch(/^Stopp.*\n$/);
  });

  test("a second Ctrl-C ends listen at once, and says what may be left and how to find it", async () => {
    emulator.fault({ operation: "delete", kind: "hang-before" });
    const started = register();
    await addressOf(started);
    started.child.kill("SIGINT");
    await started.until(/press Ctrl-C again/);
    const { status, stderr } = await started.signal("SIGINT");
    expect(status).toBe(130);
    const [left] = emulator.endpoints();
    expect(stderr).toMatch(
      new RegExp(
        `\nerror: .*the endpoint ${left?.id} for http://127\\.0\\.0\\.1:9/… may still be registered.*prune.*\\(INTERRUPTED\\)\n$`,
      ),
    );
  });

  test("listen exits with 1 and names the endpoint when it cannot delete it", async () => {
    const started = register();
    await addressOf(started);
    const [left] = emulator.endpoints();
    emulator.fault({ operation: "delete", kind: "status", status: 400 });
    const { status, stderr } = await started.signal("SIGINT");
    expect(status).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `\nerror: the endpoint ${left?.id} .*could not be deleted\\. .*400.*prune. deletes it \\(ENDPOINT_LEFT\\)\n$`,
      ),
    );
  });

  test("listen ends well when someone else has deleted the endpoint", async () => {
    const started = register();
    await addressOf(started);
    for (const { id } of emulator.endpoints()) emulator.remove(id);
    expect((await started.signal("SIGTERM")).status).toBe(0);
  });

  test("listen stops, and deletes the endpoint, when nobody reads its output any more", async () => {
    const started = register();
    const url = await addressOf(started);
    started.child.stdout?.destroy();
    expect((await send(url)).status).toBe(200);
    expect(await started.ended).toMatchObject({ status: 0, stderr: expect.stringContaining("Stopping.") });
    expect(emulator.endpoints()).toEqual([]);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

test("listen --register deletes an endpoint that the service does not know yet when the command stops", async () => {
  let registeredAt = Number.POSITIVE_INFINITY;
  const isKnown = () => Date.now() - registeredAt > 2_000;
  const url = await inFront(
    ({ method, url = "" }) => {
      if (method === "POST") registeredAt = Date.now();
      else if (url === "/webhooks" && !isKnown()) return "[ ]";
      return undefined;
    },
    ({ method, url = "" }) => method !== "POST" && url !== "/webhooks" && !isKnown(),
  );
  const started = register([], { WEBHOOKS_BASE_URL: url });
  await addressOf(started);
  const { status } = await started.signal("SIGINT");
  expect([status, emulator.endpoints()]).toEqual([0, []]);
});
