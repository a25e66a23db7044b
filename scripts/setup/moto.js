const fs = require("node:fs");
const path = require("node:path");
const { cache, succeed } = require("./tools");

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

/** Returns the `moto_server` that set-up installed, a stand-in for Amazon SQS; undefined if there is none. */
function findMoto() {
  const isInstalled = fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === STAMPED;
  return isInstalled ? path.join(folder, "bin/moto_server") : undefined;
}

/** Installs moto from PyPI into a virtual environment below the cache. */
function motoStep() {
  return {
    lock: path.join(cache, "moto.lock"),
    doing: "installing moto",
    isReady: () => findMoto() !== undefined,
    async make() {
      console.log("Installing moto, a stand-in for Amazon SQS, with pip. This takes about half a minute.");
      fs.rmSync(folder, { recursive: true, force: true });
      const options = { timeoutSeconds: TIMEOUT_SECONDS, said: (lines) => lines.slice(-1) };
      await succeed("python3", ["-m", "venv", folder], options);
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PACKAGES];
      await succeed(path.join(folder, "bin/python"), pip, options);
      fs.writeFileSync(stamp, STAMPED);
    },
    without: "The tests with SQS",
    remedy: HOW_TO_GET_MOTO,
  };
}

module.exports = { findMoto, HOW_TO_GET_MOTO, motoStep };
