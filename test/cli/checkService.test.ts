import { createHash } from "node:crypto";
import { checkServiceWith } from "../../src/cli/commands/checkService/checkService";
import { CLAUSES } from "../../src/cli/commands/checkService/clauses";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../src/emulator";
import { read } from "../package/pages";
import { backend } from "./backend";
import { API_KEY, type RunOptions, run, runBin, start } from "./running";

/** Time passes as soon as somebody waits for it. */
let time = 0;
const clock = {
  now: () => time,
  date: () => Date.now(),
  after(milliseconds: number, ring: () => void) {
    const timer = setImmediate(() => {
      time += milliseconds;
      ring();
    });
    return () => clearImmediate(timer);
  },
};
const commands = { "check-service": () => checkServiceWith(clock) };

let service: Emulator;
afterEach(() => service.close());
async function serve(options: EmulatorOptions = {}) {
  let count = 0;
  service = await startEmulator({ apiKey: API_KEY, newId: () => `wh_${++count}`, ...options });
}

const args = ["check-service", "--url", "https://hooks.example.com/check"];
const optionsOf = (): RunOptions => ({
  pulumi: backend({ baseUrl: service.url }),
  commands,
});

async function verdicts() {
  const { status, stdout } = await run([...args, "--yes", "--json"], optionsOf());
  const { clauses } = JSON.parse(stdout) as {
    clauses: { clause: string; verdict: string; cameBack: string }[];
  };
  return {
    status,
    clauses,
    differs: clauses.filter(({ verdict }) => verdict === "differs").map(({ clause }) => clause),
  };
}

test("the emulator meets every clause, and nothing of the check is left", async () => {
  await serve();
  const { id } = service.add({ url: "https://hooks.example.com/check", type: "development" });
  const { status, clauses } = await verdicts();
  expect(clauses.map(({ clause, verdict }) => [clause, verdict])).toEqual(
    Object.keys(CLAUSES).map((clause) => [clause, "meets"]),
  );
  expect(status).toBe(0);
  expect(service.endpoints().map((each) => each.id)).toEqual([id]);
});

test("the check tells people of each clause and, if the service differs, what follows", async () => {
  await serve({
    answer: (_request, right) => ({ ...right, headers: { ...right.headers, date: "soon" } }),
  });
  const { status, stdout } = await run([...args, "--yes"], optionsOf());
  expect(status).toBe(1);
  expect(stdout).toMatch(/^meets +register: 2xx$/m);
  expect(stdout).toMatch(
    /^differs +date: .*\n +The contract: Every response has a `Date` header\.\n +This package: Can't compare/m,
  );
  expect(stdout).toMatch(/^cannot tell +timestamps: /m);
});

type ApiRequest = Parameters<NonNullable<EmulatorOptions["answer"]>>[0];
const isList = ({ method, path }: ApiRequest) => method === "GET" && path === "/webhooks";
const isGet = ({ method, path }: ApiRequest) => method === "GET" && path !== "/webhooks";
const isA = (method: string) => (request: ApiRequest) => request.method === method;
/** Returns the emulator with other responses to some requests. */
const respond = (
  status: number,
  isMeant: (request: ApiRequest) => boolean,
  change: (body: object) => { readonly status?: number; readonly body?: unknown },
): EmulatorOptions => ({
  answer: (request, right) =>
    right.status === status && isMeant(request) ? { ...right, ...change(Object(right.body)) } : right,
});
const withoutZone = (rows: object) =>
  Object.values(rows).map((row) => ({ ...row, createdAt: "2026-11-22 20:09:21" }));
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test.each<[differs: string[], options: EmulatorOptions]>([
  [["key"], respond(401, isList, () => ({ status: 200, body: [] }))],
  [["list"], respond(200, isList, (data) => ({ body: { data, hasMore: true } }))],
  [["list-lag"], { lagMs: 3_600_000 }],
  [["timestamps"], respond(200, isList, (rows) => ({ body: withoutZone(rows) }))],
  [["get", "unknown-id"], { answer: (request, right) => (isGet(request) ? { status: 405 } : right) }],
  [["refusals"], respond(400, isA("POST"), () => ({ status: 408 }))],
  [["delete"], respond(204, isA("DELETE"), () => ({ status: 405 }))],
  [["unknown-id"], respond(404, isGet, () => ({ status: 400 }))],
  [["secrets"], respond(201, isA("POST"), (body) => ({ body: { ...body, secret } }))],
])("a service that differs in %j is told so, and nothing is left", async (expected, options) => {
  await serve(options);
  const { status, differs } = await verdicts();
  expect(differs).toEqual(expected);
  expect(status).toBe(1);
  expect(service.endpoints()).toEqual([]);
});

/** Returns the emulator as a service that stores urls in its own spelling. */
const storing = (spelling: (url: string) => string): EmulatorOptions => {
  const stored = (body: unknown): unknown => {
    if (Array.isArray(body)) return body.map(stored);
    const { url } = Object(body);
    return typeof url === "string" ? { ...Object(body), url: spelling(url) } : body;
  };
  return { answer: (_request, right) => ({ ...right, body: stored(right.body) }) };
};

/** Returns the emulator as a service that keeps what it has deleted, and shows it in lists, or also to a get. */
const softDeleting = (isShown: (request: ApiRequest) => boolean): EmulatorOptions => {
  const kept = new Map<string, object>();
  return {
    answer: (request, right) => {
      const { id } = Object(right.body);
      if (isA("POST")(request) && right.status === 201)
        kept.set(id, { ...Object(right.body), deletedAt: null });
      if (!isShown(request)) return right;
      const live = service.endpoints().map((each) => each.id);
      const deleted = [...kept].filter(([each]) => !live.includes(each)).map(([, row]) => row);
      if (Array.isArray(right.body)) return { ...right, body: [...right.body, ...deleted] };
      const body = isGet(request) && right.status === 404 && kept.get(request.path.replace("/webhooks/", ""));
      return body ? { status: 200, body } : right;
    },
  };
};
const mark = "[-0-9a-f]{36}";

test.each<[odd: string, clause: string, options: () => EmulatorOptions, cameBack: string]>([
  [
    "puts urls in lower case",
    "spelling",
    () => storing((url) => url.toLowerCase()),
    `"/Check/\\?token=check&check=${mark}/" came back with "/check/\\?token=check&check=${mark}/"`,
  ],
  [
    "removes the slash at the end of urls",
    "spelling",
    () => storing((url) => url.replace(/\/$/, "")),
    `"/Check/.*${mark}/" came back with "/Check/.*${mark}"`,
  ],
  [
    "removes the slash at the end of paths",
    "spelling",
    () => storing((url) => url.replace("/?", "?")),
    `came back with "/Check\\?token=`,
  ],
  [
    "masks tokens",
    "spelling",
    () => storing((url) => url.replace(/token=[^&]*/, "token=****")),
    `came back with ".*token=\\*\\*\\*\\*&check`,
  ],
  [
    "changes the user's own path",
    "spelling",
    () => storing((url) => (url.includes("/Check/") ? url : url.replace("/check", "/CHECK"))),
    "^a url came back with another path$",
  ],
  [
    "lists what it has deleted",
    "deleted",
    () => softDeleting(isList),
    "^the list still showed it as an endpoint five seconds later",
  ],
  [
    "shows what it has deleted",
    "deleted",
    () => softDeleting(() => true),
    "^the list and a get of it still showed it",
  ],
  [
    "shows what it has deleted to a get only",
    "deleted",
    () => softDeleting(isGet),
    "^a get of it still showed it",
  ],
  [
    "gives the highest id again",
    "ids",
    () => ({ newId: () => String(1 + Math.max(0, ...service.endpoints().map(({ id }) => Number(id)))) }),
    "2xx with 1, after 1, 2",
  ],
])(
  "a service that %s is told so by the clause %s alone, and nothing is left",
  async (_, clause, options, cameBack) => {
    await serve(options());
    const { status, clauses, differs } = await verdicts();
    expect(differs).toEqual([clause]);
    expect(clauses.find((each) => each.clause === clause)?.cameBack).toMatch(new RegExp(cameBack));
    expect(clauses.filter(({ verdict }) => verdict === "cannot tell")).toEqual([]);
    expect(status).toBe(1);
    expect(service.endpoints()).toEqual([]);
  },
);

test("a service whose ids come from urls is told that it gives them again, and keeps one endpoint for each", async () => {
  const latest = () => JSON.stringify(service.requests.at(-1)?.body);
  await serve({ newId: () => createHash("sha1").update(latest()).digest("hex") });
  const { differs } = await verdicts();
  expect(differs).toEqual(["duplicates", "ids"]);
  expect(service.endpoints()).toEqual([]);
});

test("the url of a check is shown by no clause", async () => {
  await serve(storing((url) => url.toLowerCase()));
  const secretUrl = "https://hooks.example.com/Secret-Path?Secret-Token=1";
  const { stdout } = await run(["check-service", "--url", secretUrl, "--yes"], optionsOf());
  expect(stdout).toMatch(/^differs +spelling: /m);
  expect(stdout).not.toMatch(/secret-/i);
});

test("an endpoint that was there before is never deleted, also if the service responds with it", async () => {
  await serve(respond(201, isA("POST"), (body) => ({ body: { ...body, id: "wh_1" } })));
  service.add({ url: "https://hooks.example.com/somebody", type: "development" });
  const { differs } = await verdicts();
  expect(differs).toEqual(["register"]);
  expect(service.endpoints()).toEqual([expect.objectContaining({ id: "wh_1" })]);
});

test.each(["reset-after", "malformed", "empty"] as const)(
  "a registration whose response is lost (%s) is found and deleted",
  async (kind) => {
    await serve();
    service.fault({ kind, operation: "register" });
    const { differs } = await verdicts();
    expect(differs).toEqual(["register"]);
    expect(service.endpoints()).toEqual([]);
  },
);

test("without a list, nothing is registered", async () => {
  await serve(respond(200, isList, () => ({ body: "<html>" })));
  const { differs, clauses } = await verdicts();
  expect(differs).toEqual(["list"]);
  expect(clauses.find(({ clause }) => clause === "register")?.verdict).toBe("cannot tell");
  expect(service.requests.filter(({ method }) => method === "POST")).toEqual([]);
});

test("what cannot be deleted is named", async () => {
  await serve();
  service.fault({ kind: "status", operation: "delete", status: 403, times: Number.POSITIVE_INFINITY });
  const { status, stdout, stderr } = await run([...args, "--yes", "--json"], optionsOf());
  expect(status).toBe(1);
  expect(stderr).toMatch(/may still be registered: wh_1, wh_2 and wh_3\..*list --orphans.*\(NOT_DELETABLE\)/);
  expect(JSON.parse(stdout)).toMatchObject({ clauses: expect.any(Array), error: { code: "NOT_DELETABLE" } });
});

test.each([
  [
    { answers: ["n"] },
    /^Register up to five development endpoints for https:\/\/hooks\.example\.com\/… at http:/,
    /nothing was registered.*\(INTERRUPTED\)/,
  ],
  [{}, /^$/, /Add --yes.*\(WRONG_USE\)/],
])("nothing is registered unless somebody agrees %#", async (options, question, why) => {
  await serve();
  const running = start(args, { ...optionsOf(), ...options });
  expect((await running.ended).stderr).toMatch(why);
  expect(running.asked.join()).toMatch(question);
  expect(service.requests.filter(({ method }) => method === "POST")).toEqual([]);
});

test("after Ctrl-C, the check deletes what it has registered", async () => {
  await serve();
  service.fault({ kind: "delay", operation: "get", delayMs: 200 });
  const running = start([...args, "--yes"], optionsOf());
  while (!service.requests.some(isGet)) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(service.endpoints()).toHaveLength(1);
  const { status, stdout, stderr } = await running.stop();
  expect(status).toBe(130);
  expect(stdout).toMatch(/^cannot tell +duplicates: not tried/m);
  expect(stderr).toMatch(/Nothing of it is left \(INTERRUPTED\)/);
  expect(service.endpoints()).toEqual([]);
});

test("a key that the service refuses ends the check, in the real command too", async () => {
  await serve();
  const env = { WEBHOOKS_BASE_URL: service.url, WEBHOOKS_API_KEY: "another-key-1234", PATH: "/nowhere" };
  const { status, stderr } = await runBin([...args, "--yes"], env);
  expect(status).toBe(1);
  expect(stderr).toMatch(/\(UNAUTHORIZED\)\n$/);
});

test("the contract's page has the same table of clauses", () => {
  const rows = Object.entries(CLAUSES).map(
    ([id, { service: asks, otherwise }]) => `| \`${id}\` | ${asks} | ${otherwise} |`,
  );
  expect(read("docs/service-contract.md")).toContain(rows.join("\n"));
});
