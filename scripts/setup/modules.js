// How `src` becomes the modules that users load. rollup joins its files into a few modules, because a receiver's start costs a little for
// each file: as CommonJS for all that package.json exports and for the command, and as ES modules for what it also exports to `import`. An
// ES module costs half a millisecond, so those that receivers load are joined by themselves, with a copy of what the others need, too.
// tsc makes the declarations, for `require`. Those for `import` repeat them, so that both formats have the same types, and a function of
// one accepts what the other has made.

const fs = require("node:fs");
const path = require("node:path");
const { root, succeed } = require("./tools");

const src = path.join(root, "src");
const COMMAND = "cli/main";
/** What several others load, as a module: its files, and all that they import. rollup finds what else is shared. */
const RECEIVER = {
  receiver: ["receiver/index.ts", "receiver/adapters/responder.ts", "receiver/adapters/body.ts"],
};
const SIGNATURE = {
  // What a receiver needs of it: neither `sign` nor `unwrap`.
  signature: [
    ...["event", "headers", "secret", "verify"].map((name) => `signature/${name}.ts`),
    // What a receiver shares with those that load none, such as `./client` and `./validation`.
    ...["codedError", "json"].map((name) => `shared/${name}.ts`),
  ],
};
const isOfReceivers = (name) => /^(receiver|stack)\//.test(name);

/** Makes the modules and their declarations in `folder`. */
async function makeModules(folder) {
  const { required, imported } = readExports();
  await declare(folder, { required, imported });
  const commonJs = { format: "cjs", extension: ".js", chunks: "chunks" };
  const esModules = { format: "es", extension: ".mjs" };
  await join(folder, [...required, COMMAND], { ...commonJs, shared: { ...SIGNATURE, ...RECEIVER } });
  const [others, receivers] = [false, true].map((is) =>
    imported.filter((name) => isOfReceivers(name) === is),
  );
  await join(folder, receivers, { ...esModules, chunks: "receiver/chunks", shared: RECEIVER });
  await join(folder, others, { ...esModules, chunks: "chunks", shared: SIGNATURE });
}

/** Returns the names of the modules that package.json exports: "receiver/index" is `dist/receiver/index.js`, from `src/receiver/index.ts`. */
function readExports() {
  const { exports } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  const all = Object.values(exports).filter((each) => typeof each === "object");
  const nameOf = (conditions) => conditions.default.replace(/^\.\/dist\/|\.m?js$/g, "");
  return {
    required: all.map((each) => nameOf(each.require ?? each)),
    imported: all.flatMap((each) => (each.import === undefined ? [] : nameOf(each.import))),
  };
}

/** Minified but for its names and its lines, so that receivers load less, and a stack trace still says where. */
async function join(folder, names, { format, extension, chunks, shared }) {
  // Loaded here: set-up may run before the dependencies are installed.
  const { rollup } = require("rollup");
  const bundle = await rollup({
    input: Object.fromEntries(names.map((name) => [name, path.join(src, `${name}.ts`)])),
    plugins: [sources, dense],
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
  await bundle.write({
    dir: folder,
    format,
    entryFileNames: `[name]${extension}`,
    chunkFileNames: `${chunks}/[name]${extension}`,
    manualChunks: Object.fromEntries(Object.entries(shared).map(([name, paths]) => [name, filesAt(paths)])),
    interop: "auto",
    esModule: true,
    externalLiveBindings: false,
    hoistTransitiveImports: false,
    minifyInternalExports: false,
  });
}

function filesAt(paths) {
  return paths
    .map((each) => path.join(src, each))
    .flatMap((each) =>
      each.endsWith(".ts") ? each : fs.readdirSync(each).map((name) => path.join(each, name)),
    );
}

/** Tells rollup how `src` imports its files, which have no extension there, and what to make of TypeScript and JSON. */
const sources = {
  name: "sources",
  resolveId(specifier, importer) {
    if (importer === undefined) return null;
    if (!specifier.startsWith(".")) return { id: specifier, external: true };
    const file = path.resolve(path.dirname(importer), specifier);
    return [file, `${file}.ts`, path.join(file, "index.ts")].find((each) =>
      fs.statSync(each, { throwIfNoEntry: false })?.isFile(),
    );
  },
  async transform(text, id) {
    const isJson = id.endsWith(".json");
    const { code } = await require("esbuild").transform(isJson ? text : withoutTypes(text), {
      loader: isJson ? "json" : "js",
      format: "esm",
      target: "node20",
      minifySyntax: true,
    });
    return { code };
  },
};

/** Leaves out the spaces that nobody needs. */
const dense = {
  name: "dense",
  async renderChunk(code) {
    const options = { loader: "js", target: "node20", minifyWhitespace: true, lineLimit: 1000 };
    return { code: (await require("esbuild").transform(code, options)).code };
  },
};

/** esbuild keeps comments within a function, and a receiver would load them at each start. */
function withoutTypes(text) {
  const { ModuleKind, ScriptTarget, transpileModule } = require("typescript");
  const compilerOptions = {
    target: ScriptTarget.ES2022,
    module: ModuleKind.ESNext,
    removeComments: true,
  };
  return transpileModule(text, { compilerOptions }).outputText;
}

/** Makes the declarations that the exported modules reach: nobody can import the others. */
async function declare(folder, { required, imported }) {
  const work = path.join(folder, "declarations");
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  const args = ["--project", "tsconfig.build.json", "--outDir", work, "--pretty", "false"];
  await succeed(process.execPath, [tsc, ...args], { cwd: root, said: (lines) => lines });
  const { preProcessFile } = require("typescript");
  const files = new Set(required.map((name) => path.join(work, "src", `${name}.d.ts`)));
  for (const file of files) {
    const text = fs.readFileSync(file, "utf8");
    put(path.join(folder, path.relative(path.join(work, "src"), file)), text);
    for (const { fileName } of preProcessFile(text, true, true).importedFiles) {
      if (!fileName.startsWith(".")) continue;
      const target = path.resolve(path.dirname(file), fileName);
      files.add([`${target}.d.ts`, path.join(target, "index.d.ts")].find((each) => fs.existsSync(each)));
    }
  }
  for (const name of imported)
    put(path.join(folder, `${name}.d.mts`), `export * from "./${path.basename(name)}.js";\n`);
  fs.rmSync(work, { recursive: true });
}

function put(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

module.exports = { makeModules };
