import { readdirSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix, sep } from "node:path";
import { preProcessFile } from "typescript";
import { read, root } from "./pages";

/** The folders and packages that each folder may import, for types too; `shared` is everybody's. `loading.test.ts` shows what they load. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "index.ts": ["client", "program", "stack", "validation"],
  "provider.ts": ["provider", "validation"],
  shared: ["undici"],
  signature: [],
  client: ["undici"],
  receiver: ["signature"],
  provider: ["client", "@pulumi/pulumi", "@grpc/grpc-js"],
  program: ["provider", "client", "@pulumi/pulumi"],
  stack: ["receiver", "signature", "@pulumi/pulumi"],
  validation: ["signature", "provider", "stack", "@pulumi/pulumi"],
  plugin: ["provider", "program", "validation", "@pulumi/pulumi", "@grpc/grpc-js", "google-protobuf"],
  page: [],
  emulator: ["signature", "page", "undici"],
  cli: [
    ...["signature", "client", "receiver", "provider", "program", "stack", "validation", "emulator"],
    ...["page", "commander", "undici"],
  ],
};
/** The package's own manifest, which holds the version. */
const MANIFEST = "../package.json";

/** Returns what a file below `src` imports that the design does not allow: other folders, or packages. */
function forbiddenIn(file: string, text: string): string[] {
  const folder = file.split("/")[0] ?? "";
  const imported = preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const targets = imported.map((specifier) => {
    if (!specifier.startsWith(".")) return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    const path = posix.join(posix.dirname(file), specifier);
    return path === MANIFEST ? folder : (path.split("/")[0] ?? "");
  });
  const allowed = [folder, "shared", ...(FOLDERS[folder] ?? []), ...builtinModules];
  return targets.filter((target) => !allowed.includes(target) && !target.startsWith("node:"));
}

// Biome's noImportCycles finds files that import one another in a circle.
test("the sources import only what the design allows", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.split(sep).join("/"));
  expect([...new Set(files.map((file) => file.split("/")[0]))].sort()).toEqual(Object.keys(FOLDERS).sort());
  const forbidden = files.map((file) => [file, forbiddenIn(file, read(`src/${file}`))]);
  expect(forbidden.filter(([, targets]) => targets?.length)).toEqual([]);
});

test.each([
  ["a type", "client/a.ts", `import type { b } from "../provider/b";`, "provider"],
  ["a type without a statement", "stack/a.ts", `type B = import("../client/b").B;`, "client"],
  ["what it exports again", "receiver/a.ts", `export * from "../client/index";`, "client"],
  ["what it loads later", "receiver/a.ts", `const fastify = await import("fastify");`, "fastify"],
  ["what it requires", "signature/deep/a.ts", `const b = require("../../client/b");`, "client"],
  ["a part of a package", "client/a.ts", `import { b } from "@pulumi/pulumi/output";`, "@pulumi/pulumi"],
  ["the package's own index", "stack/a.ts", `import { receiverConfig } from "..";`, "."],
])("the check of imports finds %s that a folder may not import", (_what, file, text, target) => {
  expect(forbiddenIn(file, text)).toEqual([target]);
});
