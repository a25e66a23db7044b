// Plain old syntax and no `node:` imports: this file has to be readable by the Node that it turns down.

const manifest = require("../../package.json");

/** Throws, saying what is needed, on a Node older than package.json's `engines`, and on Windows. */
function checkPlatform() {
  const wanted = manifest.engines.node.replace(">=", "");
  if (!isAtLeast(process.versions.node, wanted)) {
    throw new Error(
      `this is Node ${process.versions.node}, and Node ${wanted} or later is needed. Install one from https://nodejs.org.`,
    );
  }
  if (process.platform === "win32") {
    throw new Error("set-up runs on Linux and macOS. On Windows, use the Windows Subsystem for Linux.");
  }
}

/** Whether version `actual` is `minimum` or later; both are `major.minor.patch`. */
function isAtLeast(actual, minimum) {
  const left = actual.split(".").map(Number);
  const right = minimum.split(".").map(Number);
  const at = [0, 1, 2].find((place) => left[place] !== right[place]);
  return at === undefined || left[at] > right[at];
}

module.exports = { checkPlatform, isAtLeast };
