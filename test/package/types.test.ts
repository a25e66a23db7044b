import { join } from "node:path";
import * as ts from "typescript";
import { makeFolder, removeFolders } from "../receiver/readme/app";
import { read, root } from "./pages";

/** The compiler that type-checks a program without one of its own. */
const vendored: typeof ts = require(
  join(root, "node_modules/@pulumi/pulumi/vendor/typescript@3.8.3/typescript.js"),
);

afterAll(removeFolders);

const { exports } = JSON.parse(read("package.json"));
const ofReceivers = Object.keys(exports).filter((name) => !/^\.$|\.json$|^\.\/provider$/.test(name));

const node10 = {
  target: ts.ScriptTarget.ES2020,
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
};
const nodeNext = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};

/** Returns the errors that a user's compiler reports for a file that imports these parts of the package as m0, m1 and so on. */
function errorsWith(
  compiler: typeof ts,
  options: ts.CompilerOptions,
  parts: readonly string[],
  more = "",
): string[] {
  const imports = parts.map(
    (name, index) => `import * as m${index} from "pulumi-webhook-endpoints${name.slice(1)}";`,
  );
  const code = `${imports.join("\n")}\nconsole.log(${parts.map((_, index) => `m${index}`).join(", ")});\n${more}`;
  const packages = { "@pulumi": "node_modules/@pulumi", "@types": "node_modules/@types" };
  const folder = makeFolder({ files: { "app.ts": code }, packages });
  const program = compiler.createProgram([join(folder, "app.ts")], {
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
    .flatMap((file) => compiler.getPreEmitDiagnostics(program, file))
    .map(
      ({ file, messageText }) =>
        `${file?.fileName}: ${compiler.flattenDiagnosticMessageText(messageText, " ")}`,
    );
}

// A program and receivers are checked separately: Pulumi's declarations bring in much that a receiver doesn't have.
test.each([
  ["a program", "the settings of `pulumi new typescript`", ts, node10, ["."]],
  ["a program", "the settings of Node's own modules", ts, nodeNext, ["."]],
  ["a program", "the TypeScript 3.8 that Pulumi brings", vendored, node10, ["."]],
  ["a receiver", "the oldest way to resolve modules", ts, node10, ofReceivers],
  ["a receiver", "the settings of Node's own modules", ts, nodeNext, ofReceivers],
] as const)(
  "TypeScript accepts the declarations that %s imports, with %s",
  (_what, _how, compiler, options, parts) => {
    expect(errorsWith(compiler, options, parts)).toEqual([]);
  },
);

test("TypeScript passes a browser's Request and Headers on, also without the library that declares them iterable", () => {
  const options = { ...nodeNext, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"] };
  const program = `
    declare const request: Request;
    const response: Promise<Response> = m1.fetchHandler({} as never)(request);
    console.log(response, m0.verify("", request.headers, "whsec_"));
    // @ts-expect-error These are no pairs.
    m0.verify("", ["webhook-id"], "whsec_");`;
  expect(errorsWith(ts, options, ["./signature", "./receiver/fetch"], program)).toEqual([]);
});
