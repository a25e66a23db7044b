/**
 * Runs commands in one process, one after the other, each with the package's files loaded anew: a process of its own would cost each
 * one a quarter of a second of processor time. Gets `{ args, env, cwd }`, and sends what the process would print, and its exit status.
 */
const { Readable, Writable } = require("node:stream");
const { join, sep } = require("node:path");

const dist = join(__dirname, "../../dist");
const ownEnvironment = Object.keys(process.env);
let printed;

for (const name of ["stdout", "stderr"])
  Object.defineProperty(process, name, {
    get: () => printed[name].stream,
  });
process.on("warning", (warning) => process.stderr.write(`(node:${process.pid}) ${warning}\n`));

function newStream() {
  const output = { text: "" };
  output.stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      output.text += chunk;
      done();
    },
  });
  return output;
}

async function run({ args, env, cwd }) {
  for (const path of Object.keys(require.cache)) if (path.startsWith(dist + sep)) delete require.cache[path];
  for (const name of [...ownEnvironment, ...Object.keys(process.env)]) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv.splice(1, process.argv.length, join(dist, "cli/main.js"), ...args);
  process.exitCode = undefined;
  for (const signal of ["SIGINT", "SIGTERM"]) process.removeAllListeners(signal);
  printed = { stdout: newStream(), stderr: newStream() };
  Object.defineProperty(process, "stdin", { value: Readable.from([]), configurable: true });
  const { webhookEndpoints } = require("../../dist/cli/webhookEndpoints");
  const { failUnlessInterrupted } = require("../../dist/cli/run");
  await webhookEndpoints().parseAsync().catch(failUnlessInterrupted);
  return { status: process.exitCode ?? 0, stdout: printed.stdout.text, stderr: printed.stderr.text };
}

process.on("message", async (command) => process.send(await run(command)));
process.on("disconnect", () => process.exit());
