import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { type Emulator, startEmulator } from "../../src/emulator";
import { sign } from "../../src/signature";
import { receiver } from "../emulator/receiver";
import { API_KEY, cleanUp, makeFolder, OTHER_SECRET, run, SECRET, type Started, start } from "./commandLine";

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+(?=$|"\})/m;
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

function listen(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Started {
  return start(["listen", "--secret-env", "THE_SECRET", ...args], { env: { THE_SECRET: SECRET, ...env } });
}

/** Starts to listen with a registration, by the settings of the environment. */
function register(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Started {
  const settings = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: API_KEY, ...env };
  return listen(["--register", PUBLIC_URL, ...args], settings);
}

/** A service in front of the emulator, which answers a request itself if it wants to. */
async function inFront(answer: (request: IncomingMessage) => string | undefined): Promise<string> {
  const service = createServer((request, response) => {
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

test.each(["the whole list", "a list that lacks it, because it is a part"])(
  "listen --register leaves an endpoint of a service that keeps one for each url, by %s",
  async (list) => {
    const { id } = emulator.add({ url: PUBLIC_URL, type: "production", createdAt: "2026-01-31T12:34:56Z" });
    const url = await inFront((request) => {
      if (request.method === "POST") return JSON.stringify({ id, url: PUBLIC_URL, type: "production" });
      return isList(request) && list !== "the whole list" ? "[]" : undefined;
    });
    const started = register([], { WEBHOOKS_BASE_URL: url });
    await addressOf(started);
    const { status, stderr } = await started.signal("SIGINT");
    expect([status, emulator.endpoints().map((each) => each.id)]).toEqual([0, [id]]);
    expect(stderr).toContain(
      `The service already had ${id} with this url, and answered with that, so it stays`,
    );
    expect(stderr).not.toMatch(/once more|before anything was registered/);
  },
);

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

async function addressOf(started: Started): Promise<string> {
  return (await started.until(ADDRESS))[0];
}

interface Sent {
  readonly id?: string;
  readonly body?: string | Buffer;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(
  url: string,
  {
    id = "msg_1",
    body = '{"type":"job.succeeded","data":{"jobId":"job_1"}}',
    secret = SECRET,
    headers = {},
  }: Sent = {},
): Promise<Response> {
  const signed = sign({ id, timestamp: Math.floor(Date.now() / 1000), body, secret });
  return fetch(url, {
    method: "POST",
    body,
    headers: { ...signed, "content-type": "application/json", ...headers },
  });
}

test("listen prints its address as the first line, then the deliveries and refusals of any path", async () => {
  const started = listen();
  const url = await addressOf(started);
  expect((await send(`${url}/any/path?a=b`)).status).toBe(200);
  expect((await send(url, { id: "msg_2", secret: OTHER_SECRET })).status).toBe(401);
  expect((await send(url, { id: "msg_3", body: "not json" })).status).toBe(200);
  expect((await fetch(url)).status).toBe(405);
  const { status, stdout, stderr } = await started.signal("SIGINT");
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout.replace(/^\d\d:\d\d:\d\d/gm, "time")).toBe(
    `${url}
time  job.succeeded  job_1  msg_1  verified
time  refused with 401: signature-mismatch  msg_2
time  unknown event  no job  msg_3  verified
time  refused with 405: method
`,
  );
});

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

test("listen --json prints each delivery and refusal as JSON on one line, harmless for a terminal", async () => {
  const started = listen(["--json"]);
  const url = await addressOf(started);
  await send(url, { body: JSON.stringify({ type: "\u001b[2Jjob\u202e\n", data: { jobId: 7 } }) });
  await send(url, { id: "msg_2", secret: OTHER_SECRET });
  const { stdout } = await started.signal("SIGTERM");
  const [first, ...lines] = stdout.trimEnd().split("\n");
  expect(JSON.parse(first ?? "")).toEqual({ url });
  for (const control of ["\u001b", "\u202e"]) expect(stdout).not.toContain(control);
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time,
      verified: true,
      event: "\u001b[2Jjob\u202e\n",
      jobId: "7",
      id: "msg_1",
      timestamp: expect.any(Number),
      status: 200,
      forwarded: null,
    },
    { time, verified: false, reason: "signature-mismatch", status: 401, unverifiedId: "msg_2" },
  ]);
});

test("listen --events shows and forwards only these events, and accepts the others", async () => {
  const target = await receiver(200, 200, 200);
  const args = ["--forward-to", target.url, "--events", "job.failed, order.paid", "--json"];
  const started = listen(args);
  const url = await addressOf(started);
  const event = (type: string) => JSON.stringify({ type, data: { jobId: "job_1" } });
  for (const type of ["job.succeeded", "job.failed", "order.paid", "job.running"])
    expect((await send(url, { body: event(type) })).status).toBe(200);
  expect((await send(url, { body: event("job.running"), secret: OTHER_SECRET })).status).toBe(401);
  const { stdout } = await started.signal("SIGINT");
  const [, ...lines] = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: "job.failed" },
    { event: "order.paid" },
    { verified: false },
  ]);
  expect(target.received.map(({ body }) => JSON.parse(body).type)).toEqual(["job.failed", "order.paid"]);
});

test("listen --print shows headers and body, and nothing that opens something", async () => {
  const started = listen(["--print"]);
  const url = await addressOf(started);
  const body = '{\n  "type": "job.running",\n  "data": "\u001b[2J"\n}';
  await send(url, { body, headers: { authorization: "Bearer x", cookie: "a=b", "x-trace": "t1" } });
  const { stdout } = await started.signal("SIGINT");
  expect(stdout).toMatch(/ {2}verified\n {2}host: .*\n/i);
  expect(stdout).toMatch(/\n {2}webhook-signature: v1,\S{44}\n/);
  expect(stdout).toMatch(/\n {2}x-trace: t1\n/);
  expect(stdout).toContain('\n\n  {\n    "type": "job.running",\n    "data": "\\u001b[2J"\n  }\n');
  expect(stdout).not.toMatch(/Bearer|a=b/);
});

test("listen --print --json has the headers and the body, in base64 if it is not UTF-8", async () => {
  const started = listen(["--print", "--json"]);
  const url = await addressOf(started);
  await send(url, { body: Buffer.from([0xff, 0x00]) });
  const { stdout } = await started.signal("SIGINT");
  const { headers, body, isBase64Encoded } = JSON.parse(stdout.split("\n")[1] ?? "");
  expect(headers).toContainEqual(["webhook-id", "msg_1"]);
  expect([body, isBase64Encoded]).toEqual(["/wA=", true]);
});

describe("with --save", () => {
  const filesIn = (folder: string) =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));

  test("listen writes each delivery to a file that verify reads, and only its owner can", async () => {
    const folder = join(makeFolder({}), "new", "captures");
    const started = listen(["--save", folder, "--json"]);
    const url = await addressOf(started);
    await send(url, { body: '{"n": 1.0}' });
    await send(url, {
      id: "/etc/msg_2",
      body: Buffer.from([0xfe, 0xff]),
      headers: { authorization: "Bearer x" },
    });
    await send(url, { id: "msg_3", secret: OTHER_SECRET });
    await fetch(url);
    const { stdout } = await started.signal("SIGINT");
    const files = filesIn(folder);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .slice(1)
        .map((line) => JSON.parse(line).capture),
    ).toEqual([...files, null]);
    expect(files.map((name) => basename(name).replace(/^\d+-/, ""))).toEqual([
      "msg_1.json",
      "_etc_msg_2.json",
      "msg_3-signature-mismatch.json",
    ]);
    expect(files.map((name) => statSync(name).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    expect(files.map((name) => readFileSync(name, "utf8")).join("")).not.toContain("Bearer");
    const verify = (file = "") =>
      run(["verify", "--capture", file, "--secret-env", "THE_SECRET"], { env: { THE_SECRET: SECRET } });
    expect((await verify(files[0])).stdout).toMatch(/^Verified: msg_1 /);
    expect((await verify(files[1])).stdout).toMatch(/^Verified: \/etc\/msg_2 /);
    expect((await verify(files[2])).stdout).toMatch(/^Not verified: wrong-secret/);
  });

  test("listen goes on when a file cannot be written, and says so", async () => {
    const folder = join(makeFolder({}), "captures");
    const started = listen(["--save", folder]);
    const url = await addressOf(started);
    rmSync(folder, { recursive: true });
    expect((await send(url)).status).toBe(200);
    const { status, stdout, stderr } = await started.signal("SIGINT");
    expect([status, stderr]).toEqual([0, "warning: the delivery msg_1 was not saved (ENOENT)\n"]);
    expect(stdout).toMatch(/verified\n$/);
  });

  test("listen fails with one line when the folder cannot be made", async () => {
    const { status, stderr } = await listen(["--save", "/dev/null/captures"]).ended;
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: the folder \/dev\/null\/captures of --save .*\(FILE_UNWRITABLE\)\n$/);
  });
});

test("listen says what it waits for when it is stopped during a delivery, and a second Ctrl-C ends that", async () => {
  const target = await receiver("hang");
  const started = listen(["--forward-to", target.url]);
  void send(await addressOf(started)).catch(() => undefined);
  await started.untilTrue(() => target.received.length > 0);
  started.child.kill("SIGINT");
  await started.until(/^Stopping\. Waiting up to 2 s for 1 deliver.*press Ctrl-C again\.$/m);
  // Had the wait ended by itself, it would be 0.
  expect((await started.signal("SIGINT")).status).toBe(130);
});

describe("with --forward-to", () => {
  test("listen forwards what verifies byte for byte, and answers what the target answers", async () => {
    const target = await receiver({
      status: 418,
      headers: { "retry-after": "7", "set-cookie": "a=b" },
      body: "a teapot",
    });
    const started = listen(["--forward-to", `${target.url}?a=b`]);
    const url = await addressOf(started);
    const body = Buffer.from('{ "type":"job.failed",\t"data" : {"jobId": 12345678901234567890} }\n');
    await send(url, { id: "msg_forged", secret: OTHER_SECRET });
    const answer = await send(url, { body, headers: { authorization: "Bearer x", cookie: "c=d" } });
    expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([
      418,
      "7",
      "a teapot",
    ]);
    expect(answer.headers.has("set-cookie")).toBe(false);
    expect(target.received).toHaveLength(1);
    const [{ headers, body: received } = { headers: {}, body: "" }] = target.received;
    expect(received).toBe(body.toString("utf8"));
    expect(headers).toMatchObject({ "webhook-id": "msg_1", "content-type": "application/json" });
    expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
    const { stdout } = await started.signal("SIGINT");
    expect(stdout).toMatch(
      /job\.failed {2}12345678901234567890 {2}msg_1 {2}verified, forwarded: 418 after \d+ ms\n$/,
    );
  });

  test("listen forwards bodies that are not text unchanged, up to the limit of a receiver", async () => {
    const hashes: string[] = [];
    const target = createServer(async (request, response) => {
      const hash = createHash("sha256");
      for await (const chunk of request) hash.update(chunk);
      hashes.push(hash.digest("hex"));
      response.end();
    });
    await new Promise<void>((listening) => target.listen(0, "127.0.0.1", listening));
    const { port } = target.address() as AddressInfo;
    const url = await addressOf(listen(["--forward-to", `http://127.0.0.1:${port}/`]));
    const body = Buffer.from(Array.from({ length: 1024 * 1024 }, (_, index) => (index * 31) % 256));
    expect((await send(url, { body })).status).toBe(200);
    expect(hashes).toEqual([createHash("sha256").update(body).digest("hex")]);
    expect((await send(url, { body: Buffer.alloc(1024 * 1024 + 1) })).status).toBe(413);
    target.close();
  });

  test("listen answers 502 when the target is dead, so that the sender retries", async () => {
    const started = listen(["--forward-to", "http://127.0.0.1:1/", "--json"]);
    expect((await send(await addressOf(started))).status).toBe(502);
    const { stdout } = await started.signal("SIGINT");
    expect(JSON.parse(stdout.split("\n")[1] ?? "")).toMatchObject({
      status: 502,
      forwarded: { status: null, failure: "ECONNREFUSED" },
    });
  });

  test("listen forwards at most 64 deliveries at once, and answers 503 to the rest", async () => {
    const waiting: ServerResponse[] = [];
    const target = createServer((_request, response) => void waiting.push(response));
    await new Promise<void>((listening) => target.listen(0, "127.0.0.1", listening));
    const { port } = target.address() as AddressInfo;
    const url = await addressOf(listen(["--forward-to", `http://127.0.0.1:${port}/`]));
    const statuses: number[] = [];
    const sent = Array.from({ length: 80 }, async (_, index) => {
      statuses.push((await send(url, { id: `msg_${index}` })).status);
    });
    while (statuses.length < 16 || waiting.length < 64)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(statuses).toEqual(Array(16).fill(503));
    expect(waiting).toHaveLength(64);
    for (const response of waiting) response.end();
    await Promise.all(sent);
    expect(statuses.filter((status) => status === 200)).toHaveLength(64);
    target.close();
  });
});

describe("with --register", () => {
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
    expect(started.stderr).toContain("The answer to the registration was lost.");
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
    await started.until(/answer to the registration was lost/);
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
    await started.until(/answer to the registration was lost/);
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
      new RegExp(`\nerror: the endpoint ${left?.id} .*prune.*could not be deleted.*\\(ENDPOINT_LEFT\\)\n$`),
    );
  });

  test("listen ends well when someone else has deleted the endpoint", async () => {
    const started = register();
    await addressOf(started);
    for (const { id } of emulator.endpoints()) emulator.remove(id);
    expect((await started.signal("SIGTERM")).status).toBe(0);
  });

  test("listen deletes the endpoint when nobody reads its output any more", async () => {
    const started = register();
    const url = await addressOf(started);
    started.child.stdout?.destroy();
    for (let count = 0; count < 3; count += 1) expect((await send(url)).status).toBe(200);
    expect((await started.signal("SIGINT")).status).toBe(0);
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
