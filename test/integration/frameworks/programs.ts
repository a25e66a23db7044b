import { RECORDER } from "../../receiver/adapters/cases";
import type { Project } from "../../receiver/readme/app";
import { codeOf, routeOf } from "../../receiver/readme/page";

/** Returns the project of a program, with a receiver. Packages are names, or `name=folder` if they differ. */
export function projectOf([code, ...packages]: Program, receiver = RECORDER): Project {
  const places = packages.map((each) => {
    const [name = each, folder = name] = each.split("=");
    return [name, `test/integration/node_modules/${folder}`];
  });
  return { files: { "app.ts": code, "receiver.ts": receiver }, packages: Object.fromEntries(places) };
}

export type Program = readonly [code: string, ...packages: string[]];

const withNode = (code: string) => `
import http from "node:http";
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
import { receiver } from "./receiver.js";
const onNode = nodeHandler(receiver);
${code}`;

const withFetch = (code: string) => `
import http from "node:http";
import { fetchHandler } from "pulumi-webhook-endpoints/receiver/fetch";
import { receiver } from "./receiver.js";
const onFetch = fetchHandler(receiver);
${code}`;

const ADONIS = `
import { AppFactory } from "@adonisjs/core/factories/app";
import { BodyParserMiddlewareFactory } from "@adonisjs/core/factories/bodyparser";
import { ServerFactory } from "@adonisjs/core/factories/http";
const app = new AppFactory().create(new URL("./", import.meta.url));
await app.init();
const server = new ServerFactory().merge({ app }).create();
const middleware = (handle) => async () => ({ default: class { handle = handle; } });
const parser = new BodyParserMiddlewareFactory().create();
server.use([middleware(${routeOf("AdonisJS 6")})]);
server.getRouter().use([middleware((context, next) => parser.handle(context, next))]);
await server.boot();
http.createServer(server.handle.bind(server)).listen();`;

const NEST = `
import "reflect-metadata";
import { Controller, Get, Module, Param, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
@Controller("jobs")
class Jobs {
  @Get() list() { return "mine"; }
  @Get(":id") get() { return "mine"; }
  @Post(":id/cancel") cancel() { return "mine"; }
}
@Module({ controllers: [Jobs] })
class App {}`;

const REACT_ROUTER = `
import express from "express";
import { createRequestHandler } from "@react-router/express";
const action = ${routeOf("React Router")};
const build = {
  entry: { module: {} }, assets: { routes: {}, entry: {} }, basename: "/", future: {}, ssr: true, prerender: [],
  routeDiscovery: { mode: "initial" }, allowedActionOrigins: [],
  routes: { jobs: { id: "jobs", path: "jobs", module: { action, loader: action } } },
};
http.createServer(express().use(createRequestHandler({ build }))).listen();`;

/** Does what SvelteKit's adapter for Node does, with this BODY_SIZE_LIMIT. */
export const sveltekit = (bodySizeLimit: number): Program => [
  withFetch(`
  import { getRequest, setResponse } from "@sveltejs/kit/node";
  const POST = ${routeOf("SvelteKit 2 and 3")};
  http.createServer(async (request, response) => {
    const base = "http://localhost";
    setResponse(response, await POST({ request: await getRequest({ request, base, bodySizeLimit: ${bodySizeLimit} }) }));
  }).listen();`),
  "@sveltejs/kit",
];

/** Those that have routes of their own at and below the path, which respond with "mine". */
export const withOwnRoutes: readonly string[] = ["Connect", "NestJS on Express", "NestJS on Fastify"];

/** The program that the page of receivers shows for each framework, or one around the route that it shows. */
export const programs: Readonly<Record<string, Program>> = {
  "node:http": [codeOf("node:http")],
  "Express 4": [codeOf("Express 4 or 5"), "express=express4"],
  "Express 5": [codeOf("Express 4 or 5"), "express"],
  Connect: [
    withNode(`import connect from "connect";
    const app = connect();
    ${routeOf("Connect")};
    app.use("/jobs", (request, response) => response.end("mine"));
    http.createServer(app).listen();`),
    "connect",
  ],
  "NestJS on Express": [
    withNode(`${NEST}
    const app = await NestFactory.create(App, { logger: false });
    ${routeOf("NestJS on Express")};
    await app.listen(8080);`),
    ...["reflect-metadata", "rxjs", "@nestjs/common", "@nestjs/core", "@nestjs/platform-express"],
  ],
  "NestJS on Fastify": [
    withNode(`${NEST}
    import { FastifyAdapter } from "@nestjs/platform-fastify";
    import { fastifyPlugin } from "pulumi-webhook-endpoints/receiver/fastify";
    const app = await NestFactory.create(App, new FastifyAdapter(), { logger: false });
    ${routeOf("NestJS on Fastify")};
    await app.listen(8080);`),
    ...["reflect-metadata", "rxjs", "@nestjs/common", "@nestjs/core", "@nestjs/platform-fastify"],
  ],
  "Fastify 4": [codeOf("Fastify 4 or 5"), "fastify=fastify4"],
  "Fastify 5": [codeOf("Fastify 4 or 5"), "fastify"],
  Koa: [
    withNode(`import Koa from "koa";
    const app = new Koa();
    app.use(${routeOf("Koa")});
    app.listen(8080);`),
    "koa",
  ],
  hapi: [
    withNode(`import { server as create } from "@hapi/hapi";
    const server = create({ port: 8080 });
    const options = { payload: { parse: false, output: "stream", maxBytes: 2 ** 20 } };
    server.route({ method: "POST", path: "/jobs", handler: ${routeOf("hapi")}, options });
    await server.start();`),
    "@hapi/hapi",
  ],
  AdonisJS: [withNode(ADONIS), "@adonisjs/core"],
  Hono: [codeOf("Hono"), "hono", "@hono/node-server"],
  "Next.js": [
    `import { receiver } from "./receiver.js";
    ${codeOf("Next.js: app/jobs/route.ts").replace(/receiverFromEnv\(.*?\n {2}\}\)/s, "receiver")}`,
  ],
  "React Router": [withFetch(REACT_ROUTER), "@react-router/express", "express"],
  SvelteKit: sveltekit(2 ** 20),
  "h3 1, as in Nuxt": [
    withFetch(`import { createApp, defineEventHandler, toNodeListener, toWebRequest } from "h3";
    http.createServer(toNodeListener(createApp().use(${routeOf("h3 1, Nuxt")}))).listen();`),
    "h3",
  ],
  "h3 2": [
    withFetch(`import { H3, toNodeHandler } from "h3-2/node";
    http.createServer(toNodeHandler(new H3().all("/jobs", ${routeOf("h3 2")}))).listen();`),
    "h3-2",
  ],
  "GraphQL Yoga": [
    withFetch(`import { createSchema, createYoga } from "graphql-yoga";
    const schema = createSchema({ typeDefs: "type Query { jobs: Int }" });
    http.createServer(createYoga({ schema, logging: false, plugins: [${routeOf("GraphQL Yoga")}] })).listen();`),
    ...["graphql", "graphql-yoga"],
  ],
  srvx: [withFetch(`import { serve } from "srvx";\nserve({ fetch: onFetch });`), "srvx"],
  "@remix-run/node-fetch-server": [
    withFetch(`import { createRequestListener } from "@remix-run/node-fetch-server";
    http.createServer(createRequestListener(onFetch)).listen();`),
    "@remix-run/node-fetch-server",
  ],
  "AWS Lambda": [codeOf("AWS Lambda: API Gateway, function URL, load balancer")],
};
