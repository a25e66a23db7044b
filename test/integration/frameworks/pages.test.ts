import { readdirSync } from "node:fs";
import { join } from "node:path";
import { read } from "../../package/pages";
import { type App, type Project, removeFolders, startApp } from "../../receiver/readme/app";
import { snippetsOf } from "../../receiver/readme/snippets";
import { delivered, jobSucceeded, secret } from "../../receiver/support";
import { startRedis } from "../stores/redis";

const pages = readdirSync(join(__dirname, "../../../docs")).filter((name) => name.endsWith(".md"));
const texts = pages.map((name) => read(`docs/${name}`));
const snippets = texts.flatMap((text) => snippetsOf(text));
/** Returns the first program with this title on any page. */
const codeOf = (title: string) => snippets.find((snippet) => snippet.title === title)?.code ?? "";
/** Returns the code in the row of a framework, in the table of those whose route is one expression. */
const routeOf = (framework: string) =>
  texts.map((text) => new RegExp(`^\\| ${framework} \\| \`([^\`]+)\``, "m").exec(text)?.[1]).find(Boolean) ??
  "";

const from = (...names: string[]): Project["packages"] =>
  Object.fromEntries(
    names.map((name) => {
      const [as = name, real = as] = name.split("=");
      return [as, `test/integration/node_modules/${real}`];
    }),
  );
const withHandle = `
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
import { receiver } from "./receiver.js";
const handle = nodeHandler(receiver);
`;

/** Every framework that the pages name, but for Bun, Deno and Cloudflare Workers: its packages, and its program, made of what a page shows. */
const frameworks: Readonly<Record<string, readonly [code: string, ...packages: string[]]>> = {
  "node:http": [codeOf("node:http")],
  "Express 4": [codeOf("Express 4 or 5"), "express=express4"],
  "Express 5": [codeOf("Express 4 or 5"), "express"],
  "Fastify 4": [codeOf("Fastify 4 or 5"), "fastify=fastify4"],
  "Fastify 5": [codeOf("Fastify 4 or 5"), "fastify"],
  Hono: [codeOf("Hono"), "hono", "@hono/node-server"],
  "Next.js": [codeOf("Next.js: app/jobs/route.ts")],
  "AWS Lambda": [codeOf("AWS Lambda: API Gateway, function URL, load balancer")],
  Koa: [
    `import Koa from "koa";${withHandle}const app = new Koa();\napp.use(${routeOf("Koa")});\napp.listen(8080);`,
    "koa",
  ],
  hapi: [
    `import { server as create } from "@hapi/hapi";${withHandle}const server = create({ port: 8080 });
    const options = { payload: { parse: false, output: "stream", maxBytes: 2 ** 20 } };
    server.route({ method: "POST", path: "/jobs", handler: ${routeOf("hapi")}, options });
    await server.start();`,
    "@hapi/hapi",
  ],
  Nuxt: [
    `import http from "node:http";
    import { createApp, defineEventHandler, readRawBody, toNodeListener } from "h3";${withHandle}
    const app = createApp();
    app.use("/jobs", ${routeOf("Nuxt")});
    http.createServer(toNodeListener(app)).listen(8080);`,
    "h3",
  ],
  "GraphQL Yoga": [
    `import http from "node:http";
    import { createSchema, createYoga } from "graphql-yoga";
    import { fetchHandler } from "pulumi-webhook-endpoints/receiver/fetch";
    import { receiver } from "./receiver.js";
    const handle = fetchHandler(receiver);
    const schema = createSchema({ typeDefs: "type Query { jobs: Int }" });
    http.createServer(createYoga({ schema, logging: false, plugins: [${routeOf("GraphQL Yoga")}] })).listen(8080);`,
    ...["graphql", "graphql-yoga"],
  ],
  NestJS: [
    `import "reflect-metadata";
    import { Controller, Module, Post, Req, Res } from "@nestjs/common";
    import { NestFactory } from "@nestjs/core";${withHandle}
    class Jobs { ${routeOf("NestJS on Express")} }
    Controller("jobs")(Jobs);
    class App {}
    Module({ controllers: [Jobs] })(App);
    const app = await NestFactory.create(App, { rawBody: true, logger: false });
    app.useBodyParser("json", { limit: "1mb" });
    await app.listen(8080);`,
    ...["reflect-metadata", "rxjs", "@nestjs/common", "@nestjs/core", "@nestjs/platform-express"],
  ],
};

const apps: App[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.stop())));
afterAll(removeFolders);

async function start(project: Project, env = {}): Promise<App> {
  const WEBHOOK_RECEIVER = JSON.stringify({ version: 1, secrets: [secret] });
  const app = await startApp(project, { WEBHOOK_RECEIVER, ...env });
  apps.push(app);
  return app;
}

async function post({ url }: App, { headers, body }: ReturnType<typeof delivered>): Promise<string> {
  const sent = { ...headers, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers: sent, body });
  return `${response.status} ${await response.text()}`.trim();
}

const receiver = codeOf("receiver.ts");

test.each(Object.entries(frameworks))(
  "with %s, the program of the page handles a delivery once, and refuses a tampered or replayed one",
  async (_name, [code, ...packages]) => {
    const app = await start({
      files: { "app.ts": code, "receiver.ts": receiver },
      packages: from(...packages),
    });
    const delivery = delivered();
    expect(await post(app, delivery)).toMatch(/^20\d$/);
    expect(await post(app, delivery)).toMatch(/^20\d duplicate$/);
    const body = Buffer.from(JSON.stringify(jobSucceeded("job_666")));
    expect(await post(app, { ...delivered(), body })).toBe("401 not verified");
    expect(await post(app, delivered({ at: Date.now() - 3_600_000 }))).toBe("401 not verified");
    await post(app, delivered({ body: jobSucceeded("job_2") }));
    await app.written("job_2 is done");
    expect(app.lines.filter((line) => line.endsWith("is done"))).toEqual(["job_1 is done", "job_2 is done"]);
  },
);

test("with tRPC, the program of the page reads a genuine delivery, and refuses a tampered one", async () => {
  const server = `
    import { serve } from "@hono/node-server";
    import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
    const createContext = ({ req }) => ({ req });
    const fetch = (req) => fetchRequestHandler({ endpoint: "", req, router, createContext });
    serve({ fetch, port: 8080 });`;
  const files = { "app.ts": codeOf("tRPC: deliveries are sent to /trpc/jobs") + server };
  const packages = from("@trpc/server", "@hono/node-server");
  const app = await start({ files, packages }, { WEBHOOK_SECRET: secret });
  expect(await post(app, delivered())).toMatch(/^200 /);
  expect(await post(app, { ...delivered(), body: Buffer.from("{}") })).toMatch(/^401 .*not verified/);
  expect(app.lines).toEqual(["job_1 is done"]);
});

test("the program of the page for Next.js loads without secrets, as in next build", async () => {
  const files = { "app.ts": codeOf("Next.js: app/jobs/route.ts") };
  const app = await start({ files, packages: {} }, { WEBHOOK_RECEIVER: "" });
  expect(app.lines).toEqual([]);
});

test("two processes of the program with Redis handle a delivery that reaches both once", async () => {
  const redis = await startRedis();
  try {
    const shared = codeOf("receiver.ts with Redis, for several processes");
    const files = { "app.ts": codeOf("node:http"), "receiver.ts": shared };
    const project = { files, packages: from("ioredis") };
    const [one, other] = [
      await start(project, { REDIS_URL: redis.url }),
      await start(project, { REDIS_URL: redis.url }),
    ];
    /** Posts a delivery again until Redis is connected, as a sender does. */
    const postUntilReady = async (app: App, delivery: ReturnType<typeof delivered>): Promise<string> => {
      const answer = await post(app, delivery);
      return answer.startsWith("503") ? postUntilReady(app, delivery) : answer;
    };
    const delivery = delivered();
    expect(await postUntilReady(one, delivery)).toBe("200");
    expect(await postUntilReady(other, delivery)).toBe("200 duplicate");
    await one.written("job_1 is done");
    expect(other.lines).not.toContain("job_1 is done");
  } finally {
    await redis.dispose();
  }
});
