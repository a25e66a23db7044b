import { backend, recorded } from "../cli/backend";
import { makeFolder, run, SECRET } from "../cli/running";
import { receiver } from "../emulator/receiver";
import { hostileService, JOBS, rowsOf } from "./service";
import { EACH_VALUE, harmIn, VALUES } from "./values";

const env = { WEBHOOK_SECRET: SECRET };

/** The subcommands that show what a service says. An id that is an option comes after `--`. */
const SUBCOMMANDS: readonly (readonly [string, (id: string) => readonly string[]])[] = [
  ["list", () => ["list"]],
  ["list --orphans", () => ["list", "--orphans"]],
  ["get", (id) => ["get", "--", id]],
  ["delete", (id) => ["delete", "--", id]],
  ["delete --orphans", () => ["delete", "--orphans", "--older-than", "0s", "--yes"]],
  ["adopt", () => ["adopt"]],
  ["adopt --native", () => ["adopt", "--native"]],
  ["doctor", () => ["doctor"]],
  ["check-service", () => ["check-service", "--yes", "--url", "https://hooks.example.com/check"]],
];

describe.each(EACH_VALUE)("a service whose values are %s", (_what, value) => {
  test.each(SUBCOMMANDS)("is harmless in what %s prints", async (_name, argsFor) => {
    const baseUrl = await hostileService(rowsOf(value), { error: value });
    const own = { dev: { resources: [recorded("jobs", JOBS)] } };
    const { stdout, stderr } = await run(argsFor(value), {
      pulumi: backend({ baseUrl, own }),
      answers: ["n"],
    });
    expect(harmIn(stderr)).toEqual([]);
    expect(harmIn(stdout)).toEqual([]);
    expect(stderr).not.toContain("UNEXPECTED");
  });
});

test.each(EACH_VALUE)(
  "a colleague's stack and resource named %s are harmless in what doctor prints",
  async (_what, value) => {
    const baseUrl = await hostileService([
      { id: value, url: "https://hooks.example.com/", type: "development" },
    ]);
    const resources = ["one", "two"].map((name) => recorded(value + name, { id: value, url: value }));
    const pulumi = backend({
      baseUrl,
      own: { dev: { resources } },
      others: { [`o/p/${value}`]: { resources } },
    });
    const { stdout, stderr } = await run(["doctor", "--all"], { pulumi });
    expect(harmIn(stdout + stderr)).toEqual([]);
  },
);

test.each(EACH_VALUE)(
  "a receiver that responds with %s is harmless in what send and probe print",
  async (_what, value) => {
    const target = await receiver(
      ...Array.from({ length: 9 }, () => ({ status: 500, headers: {}, body: value })),
    );
    const sent = await run(["send", value.startsWith("-") ? "job.failed" : value, "--to", target.url], {
      env,
    });
    const probed = await run(["probe", target.url], { env });
    expect(harmIn(sent.stdout + sent.stderr + probed.stdout + probed.stderr)).toEqual([]);
    expect([sent.status, probed.status]).toEqual([1, 1]);
  },
);

const deep = "[".repeat(100_000) + "]".repeat(100_000);
const signed = '"webhook-id": "msg_1", "webhook-timestamp": "1795253400", "webhook-signature": "v1,x"';
test.each([
  ["a header that is deep", `{"headers": {${signed}, "x": ${deep}}, "body": ""}`],
  ["a header that is no string", `{"headers": {${signed}, "x": {"toString": 1}}, "body": ""}`],
  ["pairs that are no pairs", `{"headers": [[${deep}, 1], 7, null, ["webhook-id", "a"]], "body": ""}`],
  ["a body of deep JSON", JSON.stringify({ headers: JSON.parse(`{${signed}}`), body: deep })],
  [
    "a body with a time that is no string",
    `{"headers": {${signed}}, "body": "{\\"timestamp\\": {\\"toString\\": 1}}"}`,
  ],
  ["a header with a hundred thousand spaces", `x: a${" ".repeat(100_000)}b\nwebhook-id: m\n\n{}`],
  ...EACH_VALUE.map(([what, value]) => [
    what,
    JSON.stringify({ headers: { "webhook-id": value }, body: value }),
  ]),
])("verify of a capture with %s says what is wrong", async (_what, content) => {
  const path = `${makeFolder({ "a.json": content })}/a.json`;
  const { status, stdout, stderr } = await run(["verify", "--capture", path], { env });
  expect(status).toBe(1);
  expect(harmIn(stdout + stderr)).toEqual([]);
  expect(stdout).toMatch(/^Not verified: /);
});

describe("a service with more than anybody has", () => {
  test("130,000 endpoints are listed, and a table has no cell without an end", async () => {
    const row = (n: number) => ({ id: `wh_${n}`, url: `https://hooks.example.com/${n}`, type: "production" });
    const rows = Array.from({ length: 130_000 }, (_, n) => row(n));
    const baseUrl = await hostileService([...rows, { ...row(0), id: VALUES["a million characters"] }]);
    const { status, stdout } = await run(["list"], { pulumi: backend({ baseUrl }) });
    expect(status).toBe(0);
    expect(stdout.split("\n")).toHaveLength(130_003);
    expect(harmIn(stdout.split("\n").slice(-3).join("\n"))).toEqual([]);
    expect((await run(["doctor"], { pulumi: backend({ baseUrl }) })).stderr).toBe("");
  });

  test("a hundred thousand endpoints that cannot be read are a short warning", async () => {
    const baseUrl = await hostileService(Array.from({ length: 100_000 }, (_, n) => ({ id: `wh_${n}` })));
    const { stderr } = await run(["list"], { pulumi: backend({ baseUrl }) });
    expect(stderr).toMatch(/cannot be read: wh_0, wh_1, wh_2, wh_3, wh_4 and 99995 more$/m);
  });

  test("adopt names an endpoint with a long path in a moment, and by a short name", async () => {
    const url = `https://hooks.example.com/${"a/".repeat(100_000)}${"://".repeat(30_000)}`;
    const baseUrl = await hostileService([{ id: "wh_1", url, type: "production" }]);
    const { stdout } = await run(["adopt", "--native"], { pulumi: backend({ baseUrl }) });
    expect(JSON.parse(stdout).resources[0].name).toBe("hooks-example-com");
  });
});
