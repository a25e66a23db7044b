// Signs and verifies with seven libraries of other people, in five languages, and compares: `npm run signatures`. It builds each with its
// own tools, in a temporary folder. The exit status is 1 if one disagrees, or could not be run.

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { sign, verify } = require("../dist/signature");
const { disagreements, NPM_PEERS, OTHER_PEERS } = require("../test/integration/signatures/peers");
const { onEnd } = require("./setup/tools");

for (const [name, prepare] of Object.entries({ ...NPM_PEERS, ...OTHER_PEERS })) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "signatures-"));
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  const callOff = onEnd(remove);
  try {
    const found = disagreements(prepare(folder), { sign, verify });
    console.log(`${found.length === 0 ? "✓" : "✗"} ${name}`);
    for (const line of found) console.log(`    ${line}`);
    if (found.length > 0) process.exitCode = 1;
  } catch (error) {
    console.log(
      `– ${name} was not run: ${String(error.stderr || error.message)
        .trim()
        .split("\n")
        .at(-1)}`,
    );
    process.exitCode = 1;
  }
  callOff();
  remove();
}
