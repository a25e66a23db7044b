import { builtinModules } from "node:module";
import { posix } from "node:path";
import * as ts from "typescript";

/** The content of the source files, by path below `src/` with forward slashes. */
export type Sources = ReadonlyMap<string, string>;

interface Import {
  from: string;
  /** A source file or a package's name; undefined for what anyone may import: Node's own modules and package.json. */
  to: string | undefined;
  isFile: boolean;
  /** Whether the compiled code lacks it. */
  typeOnly: boolean;
}

interface Room {
  rooms?: readonly string[];
  packages?: readonly string[];
  /** Rooms and packages whose types alone may be used. */
  types?: readonly string[];
}

/** The rooms and packages that each room may import. `index.ts` only re-exports. */
const ROOMS: Readonly<Record<string, Room>> = {
  shared: { packages: ["undici"] },
  "index.ts": { rooms: ["client", "program", "stack", "validation"] },
  "provider.ts": { rooms: ["provider", "validation"] },
  signature: {},
  client: { packages: ["undici"] },
  receiver: { rooms: ["signature"] },
  // At run time it loads Pulumi's own copy of gRPC.
  provider: { rooms: ["client"], packages: ["@pulumi/pulumi"], types: ["@grpc/grpc-js"] },
  program: { rooms: ["provider", "client"], packages: ["@pulumi/pulumi"] },
  stack: { rooms: ["receiver", "signature"], packages: ["@pulumi/pulumi"], types: ["program"] },
  // Only the resource uses the provider, for the engine's log, and Pulumi: the check itself is free of both.
  validation: {
    rooms: ["signature", "provider"],
    packages: ["undici", "@pulumi/pulumi"],
    types: ["stack"],
  },
  // Bundled with the packages that it uses: Pulumi's messages, and gRPC to send them.
  plugin: {
    rooms: ["provider", "program", "validation"],
    packages: ["@pulumi/pulumi", "@grpc/grpc-js", "google-protobuf"],
  },
  emulator: { rooms: ["signature"], packages: ["undici"] },
  cli: {
    rooms: ["signature", "client", "receiver", "provider", "program", "stack", "validation", "emulator"],
    packages: ["commander", "undici"],
  },
};

/** The packages that requiring a room's index must not load, directly or indirectly. */
const NEVER_LOADED: Readonly<Record<string, (packageName: string) => boolean>> = {
  receiver: () => true,
  signature: () => true,
  client: (name) => name === "@pulumi/pulumi",
  stack: (name) => name === "@pulumi/pulumi",
  validation: (name) => name === "@pulumi/pulumi",
};

/** The package's own package.json, which anyone may read: it holds the version. */
const MANIFEST = "../package.json";

/** Returns a line for each import that the design does not allow. */
export function importViolations(sources: Sources): string[] {
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text, sources));
  return [
    ...imports.flatMap((found) => roomViolations(found)),
    ...Object.keys(NEVER_LOADED).flatMap((room) => loadViolations(room, imports)),
  ];
}

function roomViolations({ from, to, isFile, typeOnly }: Import): string[] {
  if (to === undefined) return [];
  const room = roomOf(from);
  const rule = ROOMS[room];
  if (rule === undefined) return [`${from}: the design has no room "${room}"`];
  const target = isFile ? roomOf(to) : to;
  if (isFile && target === "shared") return [];
  const allowed = isFile ? [room, ...(rule.rooms ?? [])] : rule.packages;
  if (allowed?.includes(target)) return [];
  if (!rule.types?.includes(target)) return [`${from}: ${room} may not import ${target}`];
  return typeOnly ? [] : [`${from}: ${room} may use only types of ${target}`];
}

function loadViolations(room: string, imports: readonly Import[]): string[] {
  const loaded = new Set([...imports.map((each) => each.from)].filter((file) => isEntry(room, file)));
  const violations: string[] = [];
  for (const file of loaded) {
    for (const { to, isFile } of imports.filter((each) => each.from === file && !each.typeOnly)) {
      if (to === undefined) continue;
      if (isFile) loaded.add(to);
      else if (NEVER_LOADED[room]?.(to)) violations.push(`${file}: loading ${room} loads the package ${to}`);
    }
  }
  return violations;
}

function isEntry(room: string, file: string): boolean {
  const entries = [`${room}/index.ts`, `${room}/queues/index.ts`];
  return entries.includes(file) || file.startsWith(`${room}/adapters/`);
}

function roomOf(file: string): string {
  return file.split("/")[0] ?? file;
}

function importsOf(from: string, text: string, sources: Sources): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    found.push({ from, typeOnly, ...resolve(from, specifier.text, sources) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeImport(node.importClause));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, isTypeExport(node));
    else if (ts.isExternalModuleReference(node)) add(node.expression, false);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && isLoading(node.expression)) add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(from, text, ts.ScriptTarget.Latest));
  return found;
}

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const bindings = clause.namedBindings;
  if (clause.name !== undefined || bindings === undefined || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.length > 0 && bindings.elements.every((element) => element.isTypeOnly);
}

function isTypeExport(node: ts.ExportDeclaration): boolean {
  if (node.isTypeOnly) return true;
  const clause = node.exportClause;
  if (clause === undefined || !ts.isNamedExports(clause)) return false;
  return clause.elements.length > 0 && clause.elements.every((element) => element.isTypeOnly);
}

/** Returns whether a call is `import(…)`, `require(…)` or `require.resolve(…)`. */
function isLoading(callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true;
  const called = ts.isPropertyAccessExpression(callee) ? callee.expression : callee;
  return ts.isIdentifier(called) && called.text === "require";
}

function resolve(from: string, specifier: string, sources: Sources): Pick<Import, "to" | "isFile"> {
  if (!specifier.startsWith(".")) {
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    const builtin = specifier.startsWith("node:") || builtinModules.includes(name);
    return { to: builtin ? undefined : name, isFile: false };
  }
  const path = posix.join(posix.dirname(from), specifier).replace(/\.js$/, "");
  if (path === MANIFEST) return { to: undefined, isFile: true };
  const file = [`${path}.ts`, posix.join(path, "index.ts"), path].find((candidate) => sources.has(candidate));
  return { to: file ?? path, isFile: true };
}
