import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { startRedis } from "../integration/stores/redis";
import type { Store } from "../integration/stores/store";
import { type App, type Project, removeFolders, startApp, typeErrors } from "./readme/app";
import { snippetsOf } from "./readme/snippets";
import { delivered, jobSucceeded, secret } from "./support";

const FRAMEWORKS = "test/integration/node_modules";
const ioredis = { ioredis: "test/integration/node_modules/ioredis" };
type Packages = Project["packages"];

/** The frameworks that a snippet may name, and the packages to install for each of their versions. */
const frameworks: Readonly<Record<string, Readonly<Record<string, Packages>>>> = {
  "node:http": { Node: {} },
  "Express 4 or 5": {
    "Express 4": { express: `${FRAMEWORKS}/express4` },
    "Express 5": { express: `${FRAMEWORKS}/express` },
  },
  "Fastify 4 or 5": {
    "Fastify 4": { fastify: `${FRAMEWORKS}/fastify4` },
    "Fastify 5": { fastify: `${FRAMEWORKS}/fastify` },
  },
  Hono: { Hono: { hono: `${FRAMEWORKS}/hono`, "@hono/node-server": `${FRAMEWORKS}/@hono/node-server` } },
  "Next.js: app/jobs/route.ts": { "a route of Next.js": {} },
  "AWS Lambda: API Gateway, function URL, load balancer": { "AWS Lambda": {} },
};
const RECEIVER = "receiver.ts";
const RECEIVER_WITH_REDIS = "receiver.ts with Redis, for several processes";

const read = (page: string) => readFileSync(resolve(__dirname, "../..", page), "utf8");
const titles = [RECEIVER, RECEIVER_WITH_REDIS, ...Object.keys(frameworks)];
const snippets = snippetsOf(read("docs/frameworks.md"));
const codeOf = (title: string) => snippets.find((snippet) => snippet.title === title)?.code ?? "";
const apps: App[] = [];

async function start(project: Project, env = {}): Promise<App> {
  const WEBHOOK_RECEIVER = JSON.stringify({
    version: 1,
    secrets: [secret],
    toleranceSeconds: 300,
    endpoints: {},
  });
  const app = await startApp(project, { WEBHOOK_RECEIVER, ...env });
  apps.push(app);
  return app;
}

async function post({ url }: App, { headers, body }: ReturnType<typeof delivered>): Promise<string> {
  const sent = { ...headers, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers: sent, body });
  return `${response.status} ${await response.text()}`.trim();
}

afterEach(() => Promise.all(apps.splice(0).map((app) => app.stop())));
afterAll(removeFolders);

test("every receiver in the documentation is for a framework that is tested here, and each of these has one", () => {
  expect(new Set(snippets.map(({ title }) => title))).toEqual(new Set(titles));
});

test("a receiver takes no more than a dozen lines in any framework", () => {
  const long = snippets.filter(({ code }) => code.trimEnd().split("\n").length > 13);
  expect(long.map(({ title }) => title)).toEqual([]);
});

test("TypeScript accepts every receiver in the documentation", () => {
  const named = Object.keys(frameworks).map((title, index) => [`app${index}.ts`, codeOf(title)]);
  const files = {
    ...Object.fromEntries(named),
    "receiver.ts": codeOf(RECEIVER),
    "receiverWithRedis.ts": codeOf(RECEIVER_WITH_REDIS),
  };
  const packages = Object.values(frameworks).flatMap((versions) =>
    Object.entries(Object.assign({}, ...Object.values(versions))),
  );
  const all = { ...Object.fromEntries(packages), ...ioredis, "@types": `${FRAMEWORKS}/@types` };
  expect(typeErrors({ files, packages: all })).toEqual([]);
});

const runs = Object.entries(frameworks).flatMap(([title, versions]) =>
  Object.entries(versions).map(([version, packages]) => [version, title, packages] as const),
);

test.each(runs)(
  "with %s a delivery is handled once, and a tampered or replayed one is refused",
  async (_version, title, packages) => {
    const files = { "app.ts": codeOf(title), "receiver.ts": codeOf(RECEIVER) };
    const app = await start({ files, packages });
    const delivery = delivered();
    expect(await post(app, delivery)).toBe("200");
    expect(await post(app, delivery)).toBe("200 duplicate");
    const body = Buffer.from(JSON.stringify(jobSucceeded("job_666")));
    expect(await post(app, { ...delivered(), body })).toBe("401 not verified");
    expect(await post(app, delivered({ at: Date.now() - 3_600_000 }))).toBe("401 not verified");
    expect(await post(app, delivered({ body: jobSucceeded("job_2") }))).toBe("200");
    await app.written("job_2 is done");
    const warnings = app.lines.filter((line) => /^\((node:|Use )/.test(line));
    expect(warnings.join()).toMatch(/signature-mismatch.*timestamp-too-old/);
    expect(app.lines.filter((line) => !warnings.includes(line))).toEqual(["job_1 is done", "job_2 is done"]);
  },
);

test("next build, which runs a route where the secrets are not, can load the one of Next.js", async () => {
  const files = { "app.ts": codeOf("Next.js: app/jobs/route.ts") };
  const app = await start({ files, packages: {} }, { WEBHOOK_RECEIVER: "" });
  expect(app.lines).toEqual([]);
});

describe("with Redis", () => {
  let redis: Store;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.dispose());

  /** Posts a delivery again until Redis is connected, as a sender does. */
  async function postUntilReady(app: App, delivery: ReturnType<typeof delivered>): Promise<string> {
    for (;;) {
      const answer = await post(app, delivery);
      if (!answer.startsWith("503")) return answer;
    }
  }

  test("a delivery that reaches two processes with Redis is handled by one of them", async () => {
    const files = { "app.ts": codeOf("node:http"), "receiver.ts": codeOf(RECEIVER_WITH_REDIS) };
    const env = { REDIS_URL: redis.url };
    const one = await start({ files, packages: ioredis }, env);
    const other = await start({ files, packages: ioredis }, env);
    const delivery = delivered();
    expect(await postUntilReady(one, delivery)).toBe("200");
    expect(await postUntilReady(other, delivery)).toBe("200 duplicate");
    await one.written("job_1 is done");
    expect(other.lines).not.toContain("job_1 is done");
  });
});
