// Old syntax and no `node:` imports, because the Node that this file rejects must be able to read it.

const manifest = require("../../package.json");

/** Throws on a Node older than package.json's `engines`, and on Windows, with a message that names what is needed. */
function checkPlatform() {
  const wanted = manifest.engines.node.replace(">=", "");
  if (!isAtLeast(process.versions.node, wanted)) {
    throw new Error(
      `Node ${process.versions.node} is too old: Node ${wanted} or later is needed. Install it from https://nodejs.org.`,
    );
  }
  if (process.platform === "win32") {
    throw new Error("Windows is not supported: use Linux, macOS, or the Windows Subsystem for Linux.");
  }
}

/** Whether version `actual` is `minimum` or later. Both have the form `major.minor.patch`. */
function isAtLeast(actual, minimum) {
  const left = actual.split(".").map(Number);
  const right = minimum.split(".").map(Number);
  const at = [0, 1, 2].find((place) => left[place] !== right[place]);
  return at === undefined || left[at] > right[at];
}

module.exports = { checkPlatform, isAtLeast };
