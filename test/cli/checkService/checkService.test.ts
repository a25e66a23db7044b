import { join } from "node:path";
import type { CheckServiceOptions } from "../../../src/cli/checkService/checkService";
import { CLAUSE_IDS, CLAUSES, type ClauseId } from "../../../src/cli/checkService/clauses";
import { heldOf } from "../../../src/cli/checkService/command";
import { openAccount } from "../../../src/cli/service";
import { type EmulatorOptions, type Fault, startEmulator } from "../../../src/emulator";
import { read } from "../../package/pages";
import { API_KEY } from "../commandLine";
import { FakeProject, KeptOutput, recorded } from "../fakeProject";
import { type Broken, KEY, SecondService } from "./secondService";
import { checked, clock, speed, URL } from "./support";

async function withEmulator(
  options: EmulatorOptions,
  faults: readonly Fault[] = [],
  more: Partial<CheckServiceOptions> = {},
) {
  const emulator = await startEmulator({ apiKey: API_KEY, now: clock.date, ...options });
  try {
    const own = emulator.add({ url: "https://hooks.example.com/jobs", type: "development" });
    for (const fault of faults) emulator.fault(fault);
    const settings = {
      WEBHOOKS_BASE_URL: emulator.url,
      WEBHOOKS_API_KEY: API_KEY,
      WEBHOOKS_API_KEY_HEADER: options.apiKeyHeader,
      WEBHOOKS_API_KEY_SCHEME: options.apiKeyScheme,
    };
    const result = await checked(settings, more);
    const left = emulator.endpoints().filter(({ id }) => id !== own.id);
    expect(result.output).not.toContain(API_KEY);
    expect(emulator.endpoints()).toContainEqual(own);
    return { ...result, left, emulator };
  } finally {
    await emulator.close();
  }
}

test("the page of the contract has the clauses that the command checks, word for word", () => {
  const page = read("docs/service-contract.md");
  const rows = [...page.matchAll(/^\| \[?`([a-z-]+)`\]?.*? \| (.*) \| (.*) \|$/gm)];
  const clauses = Object.entries(CLAUSES).map(([id, { service, otherwise }]) => [id, service, otherwise]);
  expect(rows.map(([, ...cells]) => cells)).toEqual(clauses);
});

const shapes: EmulatorOptions[] = [
  {},
  ...(["data", "items", "webhooks", "endpoints", "results"] as const).map((listShape) => ({ listShape })),
  { normalizeUrls: true },
  { latencyMs: 20 },
  { basePath: "/api/v1", apiKeyHeader: "Authorization", apiKeyScheme: "Bearer" },
  { rateLimit: { requestsPerSecond: 50, burst: 2 } },
];
test.each(shapes)("an emulator with %j meets every clause, and nothing is left in it", async (shape) => {
  const { ended, clauses, left } = await withEmulator(shape);
  const others = Object.values(clauses).filter(({ verdict }) => verdict !== "meets");
  expect(others).toEqual([]);
  expect(Object.keys(clauses)).toEqual(CLAUSE_IDS);
  expect([ended, left]).toEqual(["meets", []]);
});

test.each(["next", "hasMore", "link"] as const)(
  "a list in pages, announced by %s, is a part",
  async (moreSign) => {
    const listShape = moreSign === "link" ? "array" : "data";
    const { differs, left } = await withEmulator({ listShape, pageSize: 1, moreSign });
    expect([differs, left]).toEqual([["whole-list"], []]);
  },
);

const always = { times: Number.POSITIVE_INFINITY };
const kinds = {
  register: [
    "refuse",
    "reset-before",
    "reset-after",
    "hang-before",
    "hang-after",
    "truncated",
    "malformed",
    "empty",
    "oversized",
  ],
  list: ["refuse", "reset-before", "hang-before", "truncated", "malformed", "empty", "oversized"],
  get: ["refuse", "reset-before", "hang-before", "truncated", "malformed", "empty", "oversized"],
  delete: ["refuse", "reset-before", "reset-after", "hang-before", "hang-after"],
} as const;
const faults = Object.entries(kinds).flatMap(([operation, names]) =>
  names.map((kind) => ({ operation, kind }) as Fault),
);
test.each(faults)(
  "after one fault %j, the clause about that operation differs, and nothing is left",
  async (fault) => {
    const { differs, left } = await withEmulator({}, [fault]);
    expect([differs, left]).toEqual([[fault.operation], []]);
  },
);

test.each<[Fault, ClauseId]>([
  [{ operation: "register", kind: "status", status: 500, ...always }, "register"],
  [{ operation: "register", kind: "late-commit", delayMs: 12_000 / speed }, "register"],
  [{ operation: "list", kind: "status", status: 500, ...always }, "list"],
  [{ operation: "list", kind: "status", status: 500, after: 3 }, "list"],
  [{ operation: "get", kind: "status", status: 500, ...always }, "get"],
  [{ operation: "register", kind: "status", status: 307, headers: { location: "/elsewhere" } }, "redirects"],
  [{ operation: "register", kind: "status", status: 409, after: 1 }, "duplicates"],
])("after the fault %j, exactly the clause %s differs", async (fault, clause) => {
  const { differs, left } = await withEmulator({}, [fault]);
  expect([differs, left]).toEqual([[clause], []]);
});

test.each(["truncated", "malformed", "empty", "oversized"] as const)(
  "a delete whose response is %s meets the contract, which ignores its body",
  async (kind) => {
    const { differs, left } = await withEmulator({}, [{ operation: "delete", kind }]);
    expect([differs, left]).toEqual([[], []]);
  },
);

test("what cannot be deleted is named, and the findings are printed nevertheless", async () => {
  const { ended, differs, clauses, left, output } = await withEmulator({}, [
    { operation: "delete", kind: "status", status: 500, ...always },
  ]);
  expect([ended, differs]).toEqual(["ENDPOINT_LEFT", ["delete"]]);
  expect(left).not.toHaveLength(0);
  expect(clauses.date?.verdict).toBe("meets");
  expect(output).toContain("DELETE /webhooks/");
  expect(output).toContain('"code": "ENDPOINT_LEFT"');
});

test("a lost registration that no list shows is reported as left", async () => {
  const fault = { operation: "register", kind: "reset-after" } as const;
  const { ended, left } = await withEmulator({ pageSize: 1, listShape: "data" }, [fault]);
  expect([ended, left.length]).toEqual(["ENDPOINT_LEFT", 1]);
});

test("after a key that the service refuses in the middle of the check, what was not sent differs in nothing", async () => {
  const fault = { operation: "list", kind: "status", status: 401, after: 3, ...always } as const;
  const { clauses, differs } = await withEmulator({}, [fault]);
  expect(differs).toEqual(["list"]);
  expect(clauses.list?.cameBack).toBe("GET /webhooks: 401");
  const { duplicates, refusals } = clauses;
  expect([duplicates?.verdict, refusals?.verdict]).toEqual(["cannot tell", "cannot tell"]);
});

async function withSecondService(broken?: Broken) {
  const service = new SecondService(clock.date, broken);
  try {
    const result = await checked({ WEBHOOKS_BASE_URL: await service.listen(), WEBHOOKS_API_KEY: KEY });
    return { ...result, left: service.rows };
  } finally {
    await service.close();
  }
}

test("a service written from the page of the contract alone meets every clause", async () => {
  const { ended, clauses, left } = await withSecondService();
  expect(Object.values(clauses).filter(({ verdict }) => verdict !== "meets")).toEqual([]);
  expect([ended, left]).toEqual(["meets", []]);
});

test.each(CLAUSE_IDS)(
  "a service that breaks the clause %s alone differs in that clause alone",
  async (broken) => {
    const { ended, differs, left, output } = await withSecondService(broken);
    expect(differs).toEqual([broken]);
    expect(left).toHaveLength(broken === "delete" ? 2 : 0);
    expect(ended).toBe(broken === "delete" ? "ENDPOINT_LEFT" : "differs");
    expect(output).not.toContain("whsec_MfKQ");
  },
);

test("a response without an endpoint that can be read is reported with the reason", async () => {
  const { clauses, left } = await withSecondService("spelling");
  expect(clauses.register).toMatchObject({
    verdict: "differs",
    cameBack: expect.stringContaining('the type of the endpoint is neither "production" nor "development"'),
  });
  expect(left).toEqual([]);
});

test("a service may answer 410 for an endpoint that it does not have", async () => {
  const { ended, differs } = await withSecondService("gone");
  expect([ended, differs]).toEqual(["meets", []]);
});

test("a service may know a new endpoint only seconds after its registration, and nothing is left there", async () => {
  const { ended, differs, left } = await withSecondService("late");
  expect([ended, differs, left]).toEqual(["meets", [], []]);
});

test("a service that replaces the endpoint with the same url breaks the clause duplicates", async () => {
  const { clauses, left } = await withSecondService("replaces");
  expect(clauses.duplicates).toMatchObject({
    verdict: "differs",
    cameBack: "POST /webhooks: 200, and the first is gone",
  });
  expect(left).toEqual([]);
});

test("a service whose list keeps what is deleted breaks the clause delete", async () => {
  const { clauses, differs, left } = await withSecondService("lists-deleted");
  expect([differs, left]).toEqual([["delete"], []]);
  expect(clauses.delete?.cameBack).toMatch(/^the service still lists it 15\.\d s after the delete$/);
});

test("a service whose list leaves out the second endpoint with a url breaks the clause list-lag, and nothing is left", async () => {
  const { differs, left } = await withSecondService("lists-first");
  expect([differs, left]).toEqual([["list-lag"], []]);
});

test("nothing is registered unless the person agrees, and the question names what is sent", async () => {
  const questions: string[] = [];
  const ask = async (lines: readonly string[]) => {
    questions.push(...lines);
    return false;
  };
  const { ended, emulator } = await withEmulator({}, [], { ask });
  expect(ended).toBe("declined");
  expect(emulator.requests.map(({ method }) => method)).toEqual(["GET"]);
  expect(questions.join("\n")).toMatch(
    /two for https:\/\/hooks\.example\.com\/…, with check=[0-9a-f-]{36} at its end/,
  );
});

test("a check deletes what an interrupted one with the same url has left, and nothing else", async () => {
  const emulator = await startEmulator({ apiKey: API_KEY, now: clock.date });
  const mark = "check=018c2d1a-0000-7000-8000-000000000000";
  const type = "development";
  emulator.add({ url: `${URL}?${mark}`, type });
  const kept = [
    emulator.add({ url: `https://other.example.com/check?${mark}`, type }),
    emulator.add({ url: `${URL}?${mark}`, type: "production" }),
    emulator.add({ url: `${URL}?check=5`, type }),
    emulator.add({ url: URL, type }),
  ];
  const { ended } = await checked({ WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: API_KEY });
  expect([ended, emulator.endpoints()]).toEqual(["meets", kept]);
  await emulator.close();
});

test("checks with one url wait for each other, also on a machine without PULUMI_HOME", async () => {
  const home = process.env.PULUMI_HOME ?? "";
  process.env.PULUMI_HOME = join(home, "new");
  try {
    const emulator = await startEmulator({ apiKey: API_KEY, now: clock.date });
    const settings = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: API_KEY };
    const results = await Promise.all([checked(settings), checked(settings)]);
    expect(results.map(({ ended }) => ended)).toEqual(["meets", "meets"]);
    expect(results.map(({ output }) => output).join()).toContain(
      "Waiting for another check with the same url",
    );
    expect(emulator.endpoints()).toEqual([]);
    await emulator.close();
  } finally {
    process.env.PULUMI_HOME = home;
  }
});

test("a check leaves what an interrupted one has left if a stack has it by now, and says so", async () => {
  const emulator = await startEmulator({ apiKey: API_KEY, now: clock.date });
  const url = `${URL}?check=018c2d1a-0000-7000-8000-000000000000`;
  const [adopted, left] = [0, 1].map(() => emulator.add({ url, type: "development" }));
  const settings = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: API_KEY };
  const account = openAccount(() => undefined, settings);
  const pulumi = new FakeProject({
    config: {},
    stacks: { dev: { resources: adopted ? [recorded("adopted", adopted)] : [] } },
  });
  const held = (ids: readonly string[]) => heldOf(ids, account, { pulumi, output: new KeptOutput(true) });
  const { ended, output } = await checked(settings, { heldOf: held });
  await account.client.close();
  expect([ended, emulator.endpoints()]).toEqual(["meets", [adopted]]);
  expect(output).toContain(`${adopted?.id}, of an earlier check, stays`);
  expect(output).not.toContain(`${left?.id}, of an earlier`);
  await emulator.close();
});

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
  "a check that is stopped at request %i deletes what it has registered",
  async (count) => {
    const emulator = await startEmulator({ apiKey: API_KEY, now: clock.date });
    const stopping = new AbortController();
    const unwatch = setInterval(() => emulator.requests.length >= count && stopping.abort(), 1);
    const options = { stopped: stopping.signal };
    await checked({ WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: API_KEY }, options);
    clearInterval(unwatch);
    expect(emulator.endpoints()).toEqual([]);
    await emulator.close();
  },
);
