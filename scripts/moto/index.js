const fs = require("node:fs");
const path = require("node:path");
const { withLock } = require("../setup/lock");
const { cache } = require("../setup/paths");
const { run } = require("../setup/run");

/** Without the extra `server`, which brings in three times as much for other services than SQS. */
const PACKAGES = ["moto==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"];
const TIMEOUT_SECONDS = 300;
const HOW_TO_GET_MOTO =
  "install Python 3 with the module venv (apt-get install python3-venv), allow pip to reach PyPI, and run " +
  "`node scripts/setup.js --for test` again";

const folder = path.join(cache, "moto");
/** Written last, so that a killed installation is never mistaken for a finished one. */
const stamp = path.join(folder, "installed.json");
/** With the folder: the programs of a virtual environment hold its path, so a checkout that was moved needs another. */
const STAMPED = JSON.stringify({ folder, packages: PACKAGES });

/** Described in index.d.ts. */
function findMoto() {
  const isInstalled = fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === STAMPED;
  return isInstalled ? path.join(folder, "bin/moto_server") : undefined;
}

/** Described in index.d.ts. */
async function ensureMoto() {
  if (findMoto() !== undefined) return;
  const onWait = () => console.log("Waiting for another set-up, which is installing moto.");
  await withLock(path.join(cache, "moto.lock"), { onWait }, async () => {
    if (findMoto() !== undefined) return;
    console.log("Installing moto, a stand-in for Amazon SQS, with pip. This takes about half a minute.");
    const reason = await install();
    if (reason !== "")
      console.log(`The tests with SQS will fail: ${reason}. To fix this, ${HOW_TO_GET_MOTO}.`);
  });
}

/** Returns the reason why it failed, or "". */
async function install() {
  fs.rmSync(folder, { recursive: true, force: true });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PACKAGES];
  for (const [command, args] of [
    ["python3", ["-m", "venv", folder]],
    [path.join(folder, "bin/python"), pip],
  ]) {
    const { ok, reason, lines } = await run(command, args, { timeoutSeconds: TIMEOUT_SECONDS });
    if (!ok) return lines.find((line) => /error/i.test(line)) ?? reason;
  }
  fs.writeFileSync(stamp, STAMPED);
  return "";
}

module.exports = { ensureMoto, findMoto, HOW_TO_GET_MOTO };
