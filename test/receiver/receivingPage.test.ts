import { readFileSync } from "node:fs";
import http from "node:http";
import { join, resolve } from "node:path";
import * as ts from "typescript";
import { fastifyPlugin } from "../../src/receiver/adapters/fastify";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { outcomeAnswer, refusalAnswer } from "../../src/receiver/answers";
import { express5, fastify5 } from "../integration/frameworks/modules";
import { listen } from "../integration/frameworks/servers";
import { makeFolder, removeFolders } from "./readme/app";
import { delivered, receiverOf } from "./support";

const FRAMEWORKS = "test/integration/node_modules";
const root = resolve(__dirname, "../..");
const page = readFileSync(join(root, "docs/receiving.md"), "utf8");
const frameworksPage = readFileSync(join(root, "docs/frameworks.md"), "utf8");

afterAll(removeFolders);

/** Returns the rows of the table below a heading, without its head. */
function rowsOf(heading: string): string[][] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const table = section.split("\n## ")[0]?.match(/(?:^\|.*\n)+/m)?.[0] ?? "";
  const rows = table
    .trim()
    .split("\n")
    .slice(2)
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()));
  expect(rows.length).toBeGreaterThan(0);
  return rows;
}
const namesIn = (cell = "") => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);

const program = ts.createProgram([join(root, "src/receiver/index.ts")], { strict: true, types: [] });
const checker = program.getTypeChecker();

/** Returns a type that the receiver exports. */
function typeOf(name: string): ts.Type {
  const source = program.getSourceFile(join(root, "src/receiver/index.ts"));
  const module = source && checker.getSymbolAtLocation(source);
  const symbol = module && checker.getExportsOfModule(module).find((each) => each.name === name);
  if (symbol === undefined) throw new Error(`The receiver does not export ${name}.`);
  return checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(symbol));
}
const propertiesOf = (name: string) =>
  typeOf(name)
    .getProperties()
    .map((property) => property.name);
const membersOf = (name: string) => {
  const type = typeOf(name);
  return type.isUnion() ? type.types.map((each) => (each.isStringLiteral() ? each.value : "")) : [];
};

test("the page lists every option, every hook, and every property of a delivery", () => {
  expect(
    rowsOf("Options")
      .flatMap(([names]) => namesIn(names))
      .sort(),
  ).toEqual(propertiesOf("ReceiverOptions").sort());
  const hooks = propertiesOf("ReceiverOptions").filter((name) => /^on(?!Unhandled)/.test(name));
  expect(
    rowsOf("Hooks")
      .flatMap(([name]) => namesIn(name))
      .sort(),
  ).toEqual(hooks.sort());
  expect(
    rowsOf("Handlers")
      .flatMap(([name]) => namesIn(name))
      .sort(),
  ).toEqual(propertiesOf("Delivery").sort());
  const [rejected, outcome] = rowsOf("Hooks").map(([, called]) => namesIn(called));
  expect(rejected?.sort()).toEqual(propertiesOf("Rejection").sort());
  expect(outcome?.sort()).toEqual(propertiesOf("Outcome").sort());
});

test("the table of responses has exactly the statuses that a receiver responds with", () => {
  const documented = rowsOf("Responses").map(
    ([status, , kind = ""]) => `${status} ${kind.replaceAll("`", "")}`,
  );
  const refusals = membersOf("Refusal").map((reason) => {
    const { status } = refusalAnswer(reason as Parameters<typeof refusalAnswer>[0]);
    return `${status} ${reason}`;
  });
  const outcomes = membersOf("OutcomeKind").map((kind) => {
    const { status, headers } = outcomeAnswer(kind as Parameters<typeof outcomeAnswer>[0]);
    expect("retry-after" in headers).toBe(status === 503);
    return `${status} ${kind}`;
  });
  const others = ["401 [every other reason](signature-mismatch.md)", "503 no-secrets", "503 invalid-clock"];
  expect(documented.sort()).toEqual([...refusals, ...outcomes, ...others].sort());
});

test("a receiver answers 503 without secrets or a clock, and 401 to everything else that it cannot verify", async () => {
  const noSecrets = { secrets: () => Promise.reject(new Error("not yet")), onSecretsError: () => {} };
  for (const [options, status] of [
    [noSecrets, 503],
    [{ now: () => Number.NaN }, 503],
    [{ now: () => Date.now() + 3_600_000 }, 401],
  ] as const)
    expect((await receiverOf(options).receiver.handle(delivered())).status).toBe(status);
});

test.each([
  ["Express", "app.post", 200, 404],
  ["Fastify", "path", 404, 405],
])("the routes of %s accept what the page says", async (framework, how, slash, otherMethod) => {
  const { receiver } = receiverOf();
  const express = express5();
  express.post("/jobs", nodeHandler(receiver));
  const fastify = fastify5();
  await fastify.register(fastifyPlugin, { receiver, path: "/jobs" });
  await fastify.ready();
  const server =
    framework === "Express"
      ? http.createServer(express)
      : http.createServer((request, response) => fastify.routing(request, response));
  const running = await listen(server);
  const statusOf = async (method: string, path: string) => {
    const { headers, body } = delivered();
    const url = `http://127.0.0.1:${running.port}${path}`;
    const sent = method === "POST" ? { method, headers, body } : { method };
    return (await fetch(url, sent)).status;
  };
  try {
    expect(await statusOf("POST", "/jobs")).toBe(200);
    expect(await statusOf("POST", "/jobs/")).toBe(slash);
    expect(await statusOf("GET", "/jobs")).toBe(otherMethod);
    const row = page.split("\n").find((line) => line.startsWith(`| ${framework}: \``) && line.includes(how));
    expect(row).toContain(`${otherMethod}`);
    expect(row?.includes("`/jobs/`")).toBe(slash === 200);
  } finally {
    await running.close();
    await fastify.close();
  }
});

describe("the TypeScript project of the page of frameworks", () => {
  const [manifest = "", config = ""] = [...frameworksPage.matchAll(/^```json\n(.*?)^```$/gms)].map(
    ([, code = ""]) => code,
  );
  const installed = [...frameworksPage.matchAll(/^npm install (.*)$/gm)].flatMap(([, names = ""]) =>
    names.split(" "),
  );
  const app = `import express from "express";
import { nodeHandler } from "pulumi-webhook-endpoints/receiver/node";
import { receiver } from "./receiver.js";
const app = express();
app.post("/jobs", nodeHandler(receiver));
await new Promise<void>((listening) => app.listen(Number(process.env.PORT), () => listening()));
`;
  const receiver = /^```ts\n(.*?)^```$/ms.exec(frameworksPage)?.[1] ?? "";

  /** Returns what TypeScript reports for the project, with the packages that were installed. */
  function problems({ manifestText = manifest, configText = config, packages = installed } = {}): string {
    const places: Record<string, string> = {
      express: `${FRAMEWORKS}/express`,
      "@types/express": `${FRAMEWORKS}/@types/express`,
      "@types/node": `${FRAMEWORKS}/@types/node`,
    };
    const linked = Object.entries(places).filter(([name]) => packages.includes(name));
    const files = { "app.ts": app, "receiver.ts": receiver, "tsconfig.json": configText };
    const folder = makeFolder({
      files: { ...files, "package.json": manifestText },
      packages: Object.fromEntries(linked),
    });
    const parsed = ts.getParsedCommandLineOfConfigFile(
      join(folder, "tsconfig.json"),
      { noEmit: true, skipLibCheck: true },
      {
        ...ts.sys,
        onUnRecoverableConfigFileDiagnostic: () => {},
      },
    );
    if (parsed === undefined) throw new Error("The page's tsconfig.json cannot be read.");
    const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram(parsed.fileNames, parsed.options));
    return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " ")).join("\n");
  }

  test("compiles without a problem", () => {
    expect(installed).toEqual(expect.arrayContaining(["express", "@types/express", "@types/node"]));
    expect(problems()).toBe("");
  });

  const without = (name: string) => ({ packages: installed.filter((each) => each !== name) });
  test.each([
    ["@types/express", without("@types/express"), "Could not find a declaration file for module 'express'"],
    ["@types/node", without("@types/node"), "Cannot find type definition file for 'node'"],
    [
      '"type": "module"',
      { manifestText: "{}" },
      "is a CommonJS module and cannot use 'await' at the top level",
    ],
    [
      '"module": "nodenext"',
      { configText: config.replace("nodenext", "commonjs") },
      "can only be default-imported",
    ],
  ])("without %s has the problem that the page names", (_what, change, problem) => {
    expect(problems(change)).toContain(problem);
    expect(frameworksPage).toContain(problem);
  });
});
