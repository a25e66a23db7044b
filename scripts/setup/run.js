const { spawn } = require("node:child_process");
const { onEnd } = require("./cleanup");

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
      if (timedOut) end(`not finished after ${timeoutSeconds} s`);
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
    // It has already ended.
  }
}

module.exports = { run };
