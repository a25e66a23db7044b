/** Runs an `up` of the project in this folder through the Automation API, with the program in `index.js` inline. */
const { createRequire } = require("node:module");
const { join } = require("node:path");

const workDir = process.cwd();
// The program and the Automation API must share one SDK.
const load = createRequire(join(workDir, "index.js"));
const { LocalWorkspace } = load("@pulumi/pulumi/automation");

async function up() {
  const program = async () => load("./index.js");
  const stack = await LocalWorkspace.selectStack(
    { stackName: "dev", projectName: "test", program },
    { workDir },
  );
  await stack.up({ continueOnError: true, parallel: 100, onOutput: (text) => process.stdout.write(text) });
}

up().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
