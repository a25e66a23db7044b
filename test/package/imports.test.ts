import { readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { importViolations } from "./importRules";
import { read, root } from "./pages";

function violationsOf(sources: Record<string, string>): string[] {
  return importViolations(new Map(Object.entries(sources)));
}

// Biome's noImportCycles finds files that import one another in a circle.
test("the sources import only what the design allows", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.split(sep).join("/"));
  expect(files).toContain("index.ts");
  expect(importViolations(new Map(files.map((file) => [file, read(`src/${file}`)])))).toEqual([]);
});

const forbidden: readonly [rule: string, file: string, text: string][] = [
  ["signature imports no other room", "signature/a.ts", `import { b } from "../client/b";`],
  ["signature has no dependency", "signature/a.ts", `import type { b } from "standardwebhooks";`],
  ["client imports no other room", "client/a.ts", `import type { b } from "../provider/b";`],
  ["client does not use Pulumi", "client/a.ts", `import type { Output } from "@pulumi/pulumi";`],
  ["receiver imports only signature", "receiver/a.ts", `export * from "../client/index";`],
  ["receiver has no dependency", "receiver/a.ts", `const fastify = await import("fastify");`],
  ["provider imports only client", "provider/a.ts", `import { b } from "../program/b.js";`],
  ["provider uses only types of gRPC", "provider/a.ts", `import { credentials } from "@grpc/grpc-js";`],
  ["program imports only provider and client", "program/a.ts", `import { b } from "../signature/b";`],
  ["stack uses only types of program", "stack/a.ts", `import { WebhookEndpoint } from "../program/b";`],
  ["stack does not import client", "stack/a.ts", `type B = import("../client/b").B;`],
  ["validation does not import client", "validation/a.ts", `import { b } from "../client/b";`],
  ["validation uses only types of stack", "validation/a.ts", `import { b } from "../stack/b";`],
  ["plugin does not import client", "plugin/a.ts", `import { b } from "../client/b";`],
  ["emulator imports only signature", "emulator/a.ts", `import b = require("../client/b");`],
  ["emulator has no dependency", "emulator/a.ts", `require("express/lib/router");`],
  ["shared imports no room", "shared/a.ts", `import { b } from "../client/b";`],
  ["no other room imports the command", "provider/a.ts", `import "../cli/b";`],
  ["no room imports the package's index", "stack/a.ts", `import { receiverConfig } from "..";`],
  ["a new room has to be added to the design", "utils/a.ts", `import { b } from "../client/b";`],
];

test.each(forbidden)("the import rules hold: %s", (_rule, file, text) => {
  expect(violationsOf({ "index.ts": "", [file]: text })).toHaveLength(1);
});

test.each(["client", "stack", "receiver", "validation"])(
  "the import rules find a Pulumi that loading %s would load indirectly",
  (room) => {
    const violations = violationsOf({
      [`${room}/index.ts`]: `export { b } from "./b";`,
      [`${room}/b.ts`]: `export const b = () => require("./deep/c");`,
      [`${room}/deep/c.ts`]: `import { output } from "@pulumi/pulumi/output";`,
    });
    expect(violations).toContain(`${room}/deep/c.ts: loading ${room} loads the package @pulumi/pulumi`);
  },
);

test("the import rules allow what the design allows", () => {
  const violations = violationsOf({
    "index.ts": `export { receiverConfig } from "./stack/program";`,
    "signature/a.ts": `import { createHmac } from "node:crypto";`,
    "receiver/index.ts": `import { verify } from "../signature/a";`,
    "client/a.ts": `import { request } from "undici"; import { version } from "../../package.json";`,
    "provider/a.ts": `import { Resource } from "@pulumi/pulumi/dynamic"; import { a } from "../client/a";`,
    "stack/index.ts": `import { parse } from "./parse";`,
    "stack/program.ts": `import * as pulumi from "@pulumi/pulumi"; import { type A } from "../program/a";`,
    "emulator/a.ts": `import { sign } from "../signature/a"; import http from "http";`,
    "cli/a.ts": `import { Command } from "commander"; import { a } from "../provider/a";`,
  });
  expect(violations).toEqual([]);
});
