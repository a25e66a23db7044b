// What set-up calls in its tests, in place of the real commands: each notes its name and makes a little of what the real one would.
// FAKE_NPM, FAKE_TSC, FAKE_LAUNCHER, FAKE_GO, FAKE_DOWNLOAD and FAKE_UNPACK are "work", "fail" or "hang". The default is "work", except
// for FAKE_LAUNCHER, where it is "fail". With FAKE_LISTS=own, the system has no package lists.

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = __dirname;
const { env, argv } = process;
const note = (call) => fs.appendFileSync(path.join(root, "calls"), `${call}\n`);

function put(file, text, mode) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text, { mode });
}

function act(how, work, complaint) {
  if (how === "hang") {
    // Hangs in a child process that shares its output: both have to be killed.
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", root], { stdio: "inherit" });
    put(path.join(root, "hanging.part"), String(child.pid));
    fs.renameSync(path.join(root, "hanging.part"), path.join(root, "hanging"));
  } else if (how === "fail") {
    console.error(complaint);
    process.exit(1);
  } else setTimeout(work, 50);
}

function lists() {
  if (env.FAKE_LISTS !== "own" || argv.some((arg) => arg.startsWith("Dir::State::Lists="))) return;
  console.error("E: Unable to locate package redis-server");
  process.exit(100);
}

module.exports = {
  npm() {
    note(`npm ${argv.slice(2).join(" ")}`);
    const modules = path.join(process.cwd(), "node_modules");
    const call = (name) => `require(${JSON.stringify(__filename)}).${name}();`;
    put(path.join(modules, "half.js"), "");
    const install = () => {
      put(path.join(modules, "typescript/bin/tsc"), call("tsc"));
      put(path.join(modules, "pulumi/run.js"), call("launcher"));
      put(
        path.join(modules, "esbuild/index.js"),
        "exports.build = async ({ outfile }) => require('fs').writeFileSync(outfile, '');",
      );
      put(
        path.join(modules, "rollup/index.js"),
        `exports.rollup = require(${JSON.stringify(__filename)}).rollup;`,
      );
      put(
        path.join(modules, "typescript/index.js"),
        `exports.preProcessFile = require(${JSON.stringify(__filename)}).preProcessFile;`,
      );
      put(path.join(modules, "@pulumi/pulumi/pulumi-resource-pulumi-nodejs"), "#!/bin/sh");
      fs.copyFileSync("package-lock.json", path.join(modules, ".package-lock.json"));
    };
    act(env.FAKE_NPM, install, "npm error code E503");
  },
  tsc() {
    note("tsc");
    const out = argv[argv.indexOf("--outDir") + 1];
    const sources = fs.readdirSync(path.join(root, "src")).filter((name) => name.endsWith(".ts"));
    // As if each file imported all.
    const names = sources.map((name) => `./${name.replace(".ts", "")}`).join("\n");
    const emit = (file) => put(path.join(out, "src", file.replace(".ts", ".d.ts")), names);
    emit(sources[0]);
    act(env.FAKE_TSC, () => sources.forEach(emit), "src/index.ts(1,1): error TS1005");
  },
  preProcessFile(text) {
    return { importedFiles: text.split("\n").map((fileName) => ({ fileName })) };
  },
  async rollup({ input }) {
    const write = async ({ dir, entryFileNames }) => {
      for (const name of Object.keys(input)) put(path.join(dir, entryFileNames.replace("[name]", name)), "");
    };
    return { write };
  },
  launcher() {
    note("launcher");
    const bin = path.join(env.PULUMI_HOME, "versions", env.PULUMI_VERSION, "bin");
    const names = ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs", "pulumi-watch"];
    put(path.join(bin, "pulumi"), "half", 0o755);
    const work = () => {
      for (const name of names) put(path.join(bin, name), "official", 0o755);
    };
    act(env.FAKE_LAUNCHER ?? "fail", work, "pulumi: fetch failed");
  },
  go() {
    if (argv[2] === "version") return;
    const out = argv[argv.indexOf("-o") + 1];
    note(`go build ${path.basename(out)}`);
    put(out, "half", 0o755);
    act(env.FAKE_GO, () => put(out, "built", 0o755), "go: module lookup disabled");
  },
  "apt-cache"() {
    lists();
    console.log(
      "redis-tools\n  Depends: adduser\n  Depends: libc6\n  Depends: liblzf1\n  Suggests: ruby-redis",
    );
  },
  "apt-get"() {
    const args = argv.slice(2).filter((arg) => !arg.includes("::") && arg !== "-o");
    note(`apt-get ${args.join(" ")}`);
    if (args[0] === "update") return;
    lists();
    put(`${args[1]}_1.deb`, "half");
    const work = () => {
      for (const name of args.slice(1)) put(`${name}_1.deb`, "");
    };
    act(env.FAKE_DOWNLOAD, work, "E: Failed to fetch");
  },
  "dpkg-deb"() {
    const [, file, target] = argv.slice(2);
    const [name] = path.basename(file).split("_");
    note(`unpack ${name}`);
    put(path.join(target, "usr/lib/some-linux-gnu", name), "");
    const work = () => put(path.join(target, "usr/bin", name), "#!/bin/sh\necho $LD_LIBRARY_PATH", 0o755);
    act(env.FAKE_UNPACK, work, "dpkg-deb: error");
  },
};
