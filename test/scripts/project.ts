import { spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { languageSet } from "../../scripts/languages";

const scripts = resolve(__dirname, "../../scripts");

export interface Run {
  status: number | null;
  output: string;
}

export interface RunningSetup {
  ended: Promise<Run>;
  kill(signal: NodeJS.Signals): void;
}

export interface Project {
  root: string;
  pulumiHome: string;
  /** Where set-up installs the CLI. */
  bin: string;
  write(file: string, text: string): void;
  /** Writes an executable on the PATH of set-up. */
  writeCommand(name: string, body: string): void;
  setUp(options?: { purpose?: string; env?: Record<string, string> }): Promise<Run>;
  startSetUp(options?: { purpose?: string; env?: Record<string, string> }): RunningSetup;
  /** Returns the commands that set-up has run since the last call. */
  takeCalls(): string[];
  /** Waits until a command hangs, and returns its process number. */
  hanging(): Promise<number>;
  /** Ends the processes that are still running, and removes the files. */
  remove(): void;
}

/** Makes a checkout of set-up's own files, where every command is a fake that notes its name. */
export function makeProject(): Project {
  const root = mkdtempSync(join(tmpdir(), "setup-"));
  const commands = join(root, "commands");
  const pulumiHome = join(root, "pulumi-home");
  const calls = join(root, "calls");
  const hang = join(root, "hanging");

  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const writeCommand = (name: string, body: string) => {
    write(join("commands", name), `#!${process.execPath}\n${body}`);
    chmodSync(join(commands, name), 0o755);
  };

  for (const part of ["setup.js", "setup", "cli", "languages", "plugin", "moto", "redis"]) {
    cpSync(join(scripts, part), join(root, "scripts", part), { recursive: true });
  }
  mkdirSync(join(pulumiHome, "languages", languageSet), { recursive: true });
  write(
    "package.json",
    JSON.stringify({
      engines: { node: ">=20.18.1" },
      devDependencies: { pulumi: "3.255.0", "@pulumi/pulumi": "3.248.0" },
    }),
  );
  write(
    "package-lock.json",
    JSON.stringify({ packages: { "": {}, "node_modules/pulumi": { version: "3.255.0" } } }),
  );
  write("tsconfig.json", "{}");
  write("tsconfig.build.json", "{}");
  write("src/index.ts", "");
  write("fakes.js", FAKES);
  writeCommand("npm", "require('../fakes.js').npm();");
  writeCommand("go", "require('../fakes.js').go();");
  writeCommand("apt-cache", "require('../fakes.js').aptCache();");
  writeCommand("apt-get", "require('../fakes.js').aptGet();");
  writeCommand("dpkg-deb", "require('../fakes.js').dpkgDeb();");

  const running = new Set<number>();
  const startSetUp: Project["startSetUp"] = ({ purpose = "demo", env = {} } = {}) => {
    const child = spawn(process.execPath, [join(root, "scripts/setup.js"), "--for", purpose], {
      cwd: root,
      env: { PATH: commands, HOME: root, PULUMI_HOME: pulumiHome, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (child.pid !== undefined) running.add(child.pid);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const ended = new Promise<Run>((settle) =>
      child.on("exit", (status) => {
        if (child.pid !== undefined) running.delete(child.pid);
        settle({ status, output });
      }),
    );
    return { ended, kill: (signal) => child.kill(signal) };
  };

  return {
    root,
    pulumiHome,
    bin: join(pulumiHome, "versions/3.255.0/bin"),
    write,
    writeCommand,
    startSetUp,
    setUp: (options) => startSetUp(options).ended,
    takeCalls() {
      const taken = existsSync(calls) ? readFileSync(calls, "utf8").trimEnd().split("\n") : [];
      rmSync(calls, { force: true });
      return taken;
    },
    async hanging() {
      await until(() => existsSync(hang));
      const pid = Number(readFileSync(hang, "utf8"));
      rmSync(hang);
      running.add(pid);
      return pid;
    },
    remove() {
      for (const pid of running) endProcess(pid);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Waits until a condition holds. Throws if it doesn't within 20 seconds. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`this never came true: ${holds}`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

function endProcess(pid: number): void {
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * FAKE_NPM, FAKE_TSC, FAKE_LAUNCHER, FAKE_GO, FAKE_DOWNLOAD and FAKE_UNPACK set what the fakes do: "work", "fail" or "hang". The
 * default is "work", except for FAKE_LAUNCHER, where it is "fail". With FAKE_LISTS=own, the system has no package lists.
 */
const FAKES = `
const fs = require("fs"), path = require("path"), { spawn } = require("child_process");
const root = __dirname;
const note = (call) => fs.appendFileSync(path.join(root, "calls"), call + "\\n");
const put = (file, text, mode) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text, { mode });
};
// Hangs in a child process that shares its output: both have to be killed.
const hang = () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
  fs.writeFileSync(path.join(root, "hanging.part"), String(child.pid));
  fs.renameSync(path.join(root, "hanging.part"), path.join(root, "hanging"));
};
const act = (mode, work, complaint) => {
  if (mode === "hang") return hang();
  if (mode === "fail") { console.error(complaint); process.exit(1); }
  setTimeout(work, 50);
};
exports.npm = () => {
  note("npm " + process.argv.slice(2).join(" "));
  const modules = path.join(process.cwd(), "node_modules");
  put(path.join(modules, "half.js"), "");
  act(process.env.FAKE_NPM, () => {
    const fakes = JSON.stringify(path.join(root, "fakes.js"));
    put(path.join(modules, "typescript/bin/tsc"), "require(" + fakes + ").tsc();");
    put(path.join(modules, "esbuild/index.js"), "exports.build = async ({ outfile }) => require('fs').writeFileSync(outfile, '');");
    put(path.join(modules, "pulumi/run.js"), "require(" + fakes + ").launcher();");
    put(path.join(modules, "@pulumi/pulumi/pulumi-resource-pulumi-nodejs"), "#!/bin/sh");
    fs.copyFileSync(path.join(process.cwd(), "package-lock.json"), path.join(modules, ".package-lock.json"));
  }, "npm error code E503");
};
exports.tsc = () => {
  // A build runs it twice: for the declarations, and for the JavaScript.
  if (process.argv.includes("--emitDeclarationOnly")) note("tsc");
  const out = process.argv[process.argv.indexOf("--outDir") + 1];
  const sources = fs.readdirSync(path.join(root, "src"));
  put(path.join(out, sources[0].replace(".ts", ".js")), "");
  act(process.env.FAKE_TSC, () => {
    for (const file of sources) put(path.join(out, file.replace(".ts", ".js")), "");
  }, "src/index.ts(1,1): error TS1005");
};
exports.launcher = () => {
  note("launcher");
  const bin = path.join(process.env.PULUMI_HOME, "versions", process.env.PULUMI_VERSION, "bin");
  put(path.join(bin, "pulumi"), "half", 0o755);
  act(process.env.FAKE_LAUNCHER ?? "fail", () => {
    for (const name of ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs", "pulumi-watch"]) {
      put(path.join(bin, name), "official", 0o755);
    }
  }, "pulumi: fetch failed");
};
exports.go = () => {
  if (process.argv[2] === "version") return;
  const out = process.argv[process.argv.indexOf("-o") + 1];
  note("go build " + path.basename(out));
  put(out, "half", 0o755);
  act(process.env.FAKE_GO, () => put(out, "built", 0o755), "go: module lookup disabled");
};
const lists = () => {
  if (process.env.FAKE_LISTS !== "own" || process.argv.some((arg) => arg.startsWith("Dir::State::Lists="))) return;
  console.error("E: Unable to locate package redis-server");
  process.exit(100);
};
exports.aptCache = () => {
  lists();
  console.log("redis-tools\\n  Depends: adduser\\n  Depends: libc6\\n  Depends: liblzf1\\n  Suggests: ruby-redis");
};
exports.aptGet = () => {
  const args = process.argv.slice(2).filter((arg) => !arg.includes("::") && arg !== "-o");
  note("apt-get " + args.join(" "));
  if (args[0] === "update") return;
  lists();
  put(path.join(process.cwd(), args[1] + "_1.deb"), "half");
  act(process.env.FAKE_DOWNLOAD, () => {
    for (const name of args.slice(1)) put(path.join(process.cwd(), name + "_1.deb"), "");
  }, "E: Failed to fetch");
};
exports.dpkgDeb = () => {
  const [, file, target] = process.argv.slice(2);
  const name = path.basename(file).split("_")[0];
  note("unpack " + name);
  put(path.join(target, "usr/lib/some-linux-gnu", name), "");
  const script = "#!/bin/sh\\necho $LD_LIBRARY_PATH";
  act(process.env.FAKE_UNPACK, () => put(path.join(target, "usr/bin", name), script, 0o755), "dpkg-deb: error");
};
`;
