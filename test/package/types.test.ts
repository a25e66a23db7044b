import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { makeFolder, removeFolders } from "../receiver/readme/app";

const root = join(__dirname, "../..");

afterAll(removeFolders);

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const names = Object.keys(exports).filter((name) => !/\.json$|^\.\/provider$/.test(name));
/** Checked separately, because Pulumi's declarations bring in much that a receiver doesn't have. */
const groups = { "a program": ["."], "a receiver": names.filter((name) => name !== ".") };

/** Returns the errors that a user's compiler reports for a file that imports these parts of the package. */
function errorsWith(options: ts.CompilerOptions, names: readonly string[]): string[] {
  const imports = names.map(
    (name, index) => `import * as m${index} from "pulumi-webhook-endpoints${name.slice(1)}";`,
  );
  const code = `${imports.join("\n")}\nconsole.log(${names.map((_, index) => `m${index}`).join(", ")});\n`;
  const packages = { "@pulumi": "node_modules/@pulumi", "@types": "node_modules/@types" };
  const folder = makeFolder({ files: { "app.ts": code }, packages });
  const program = ts.createProgram([join(folder, "app.ts")], {
    strict: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(folder, "node_modules/@types")],
    preserveSymlinks: true,
    ...options,
  });
  // Of the files, only these: to check Pulumi's own declarations takes longer than all the rest.
  const files = program.getSourceFiles().filter(({ fileName }) => /app\.ts$|\/dist\//.test(fileName));
  expect(files.length).toBeGreaterThan(1);
  return files
    .flatMap((file) => ts.getPreEmitDiagnostics(program, file))
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`,
    );
}

const settings: Record<string, ts.CompilerOptions> = {
  "`pulumi new typescript`": {
    target: ts.ScriptTarget.ES2020,
    module: ts.ModuleKind.CommonJS,
    moduleResolution: ts.ModuleResolutionKind.Node10,
  },
  "Node's own modules": {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  },
};

describe.each(Object.entries(settings))("with the settings of %s", (_settings, options) => {
  test.each(Object.entries(groups))(
    "TypeScript accepts the declarations that %s imports",
    (_group, parts) => {
      expect(errorsWith(options, parts)).toEqual([]);
    },
  );
});
