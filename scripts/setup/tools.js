const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { createInterface } = require("node:readline");

/** The checkout's root. */
const root = path.resolve(__dirname, "../..");

/** The folder for what set-up remembers between runs. git ignores it, and you can delete it. */
const cache = path.join(root, ".cache");

const pending = new Set();
let watching = false;

/**
 * Runs `undo`, which must be synchronous, when this process ends, whether by itself or by Ctrl-C, SIGTERM or SIGHUP.
 * Returns a function that cancels this.
 */
function onEnd(undo) {
  watch();
  pending.add(undo);
  return () => pending.delete(undo);
}

function watch() {
  if (watching) return;
  watching = true;
  process.on("exit", () => {
    // The last one first: a command is killed before what it works in is removed.
    for (const undo of [...pending].reverse()) undo();
  });
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
    process.on(signal, () => process.exit(128 + number));
  }
}

/**
 * Calls `work` with an empty folder, and removes the folder afterwards. A run that was killed may have left it, so the caller must hold
 * the lock.
 */
async function withStage(stage, work) {
  const remove = () => fs.rmSync(stage, { recursive: true, force: true, maxRetries: 3 });
  remove();
  fs.mkdirSync(stage, { recursive: true });
  const callOff = onEnd(remove);
  try {
    return await work(stage);
  } finally {
    callOff();
    remove();
  }
}

/**
 * Runs a command without showing its output. Resolves to `{ ok, reason, lines }`: `reason` describes in a few words how it failed, and
 * `lines` is its output. Never rejects. After `timeoutSeconds`, or when this process ends, the command is killed together with its
 * children. `onLine` gets each line as it is printed.
 */
function run(command, args, { cwd, env = process.env, timeoutSeconds, onLine = () => {} } = {}) {
  return new Promise((resolve) => {
    // In its own process group, so that its children can be killed with it.
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const callOff = onEnd(() => killGroup(child));
    const lines = [];
    let timedOut = false;
    const giveUp = () => {
      timedOut = true;
      killGroup(child);
    };
    const timer = timeoutSeconds && setTimeout(giveUp, timeoutSeconds * 1000);
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on("line", (line) => {
        lines.push(line);
        onLine(line);
      });
    }

    const end = (reason) => {
      clearTimeout(timer);
      callOff();
      resolve({ ok: reason === "", reason, lines });
    };
    child.on("error", ({ code, message }) =>
      end(code === "ENOENT" ? `${command} is not on PATH` : `${command} did not start: ${message}`),
    );
    child.on("close", (code, signal) => {
      if (timedOut) end(`not finished after ${timeoutSeconds} s`);
      else end(code === 0 ? "" : `${command} ended with ${signal ?? `exit status ${code}`}`);
    });
  });
}

function killGroup(child) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

/** Runs a command, and returns its output's lines. If it fails, throws with the lines that `said` picks. */
async function succeed(command, args, { said = (lines) => lines.slice(-10), ...options } = {}) {
  const { ok, reason, lines } = await run(command, args, options);
  if (!ok) throw new Error([reason, ...said(lines)].join("\n"));
  return lines;
}

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    const stat = fs.statSync(file);
    return stat.isFile() && stat.size > 0;
  } catch {
    return false;
  }
}

module.exports = { cache, isExecutable, onEnd, root, run, succeed, withStage };
