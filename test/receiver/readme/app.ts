import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import * as ts from "typescript";
import { follow, type Output } from "./output";

const root = resolve(__dirname, "../../..");
const folders: string[] = [];
const OPTIONS = {
  module: ts.ModuleKind.Node16,
  moduleResolution: ts.ModuleResolutionKind.Node16,
  target: ts.ScriptTarget.ES2022,
  // Not of browsers, which have a Worker, too.
  lib: ["lib.es2023.d.ts"],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  types: ["node"],
  // NestJS.
  experimentalDecorators: true,
};

/** The code of a project of a user's, by file, and where the packages are that it installed, by name. */
export interface Project {
  readonly files: Readonly<Record<string, string>>;
  readonly packages: Readonly<Record<string, string>>;
}

export interface App extends Output {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  /** The ports of its servers, in the order in which they started to listen. */
  readonly ports: readonly number[];
}

/** A folder as of a user who has installed the package. */
export function makeFolder({ files, packages }: Project): string {
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  folders.push(folder);
  for (const [name, place] of Object.entries({ "pulumi-webhook-endpoints": ".", ...packages })) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    // On Windows, a link of another kind is for administrators.
    symlinkSync(join(root, place), link, "junction");
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), code);
  }
  return folder;
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** What TypeScript has against the files of a project, a line each. */
export function typeErrors(project: Project): string[] {
  const folder = makeFolder(project);
  const files = Object.keys(project.files).map((file) => join(folder, file));
  const program = ts.createProgram(files, { ...OPTIONS, typeRoots: [join(folder, "node_modules/@types")] });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const name = file === undefined ? "" : file.fileName.slice(folder.length + 1);
    return `${name}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

/** A folder with the JavaScript of a project. */
export function compileFolder(project: Project): string {
  const compiled = Object.entries(project.files).map(([file, code]) => [
    file.replace(/\.ts$/, ".js"),
    ts.transpileModule(code, { compilerOptions: { ...OPTIONS, module: ts.ModuleKind.ESNext } }).outputText,
  ]);
  return makeFolder({ ...project, files: Object.fromEntries(compiled) });
}

/** Starts `app.ts` of a project in a process of its own. */
export async function startApp(project: Project, env: Readonly<Record<string, string>>): Promise<App> {
  const folder = compileFolder(project);
  const child = fork(join(__dirname, "host.mjs"), [join(folder, "app.js")], {
    cwd: folder,
    env: { ...process.env, ...env },
    execArgv: [],
    silent: true,
  });
  const output = follow(child);
  const ports: number[] = [];
  child.on("message", ({ port }: { port: number }) => ports.push(port));
  await Promise.race([once(child, "message"), output.failed]);
  const [port = 0] = ports;
  return { ...output, pid: child.pid ?? 0, url: `http://127.0.0.1:${port}/jobs`, port, ports };
}
