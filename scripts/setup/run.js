const { spawn } = require("node:child_process");
const { onEnd } = require("./cleanup");

/**
 * Runs a command quietly to its end. Gives `{ ok, reason, lines }`: `reason` says in a few words how it failed,
 * `lines` is what it printed. Never throws. After `timeoutSeconds`, or when this process ends, the command
 * is killed together with its children. `onLine` sees each line as it comes.
 */
function run(command, args, { cwd, env = process.env, timeoutSeconds, onLine = () => {} } = {}) {
  return new Promise((resolve) => {
    // A process group of its own, so that its children can be killed with it.
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const callOff = onEnd(() => killGroup(child));
    const lines = [];
    let timedOut = false;
    const timer =
      timeoutSeconds &&
      setTimeout(() => {
        timedOut = true;
        killGroup(child);
      }, timeoutSeconds * 1000);

    for (const stream of [child.stdout, child.stderr]) {
      eachLine(stream, (line) => {
        lines.push(line);
        onLine(line);
      });
    }

    const end = (reason) => {
      clearTimeout(timer);
      callOff();
      resolve({ ok: reason === "", reason, lines });
    };
    child.on("error", (error) => {
      end(
        error.code === "ENOENT" ? `${command} is not on PATH` : `${command} did not start: ${error.message}`,
      );
    });
    child.on("close", (code, signal) => {
      if (timedOut) end(`not done after ${timeoutSeconds} s`);
      else end(code === 0 ? "" : `${command} ended with ${signal ?? `exit status ${code}`}`);
    });
  });
}

function eachLine(stream, use) {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    parts.forEach(use);
  });
  stream.on("end", () => {
    if (rest !== "") use(rest);
  });
}

function killGroup(child) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

module.exports = { run };
