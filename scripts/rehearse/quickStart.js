const fs = require("node:fs");
const { createServer } = require("node:net");
const path = require("node:path");
const { setTimeout } = require("node:timers/promises");
const { checkInstalled } = require("./checks");
const { codeOf, commandsOf, sectionOf } = require("./pages");
const { listen } = require("./servers");

/** The command of the package, in a process that the rehearsal can end: npx would leave it running. */
const COMMAND = "node_modules/.bin/pulumi-webhook-endpoints";

/**
 * Follows the README as a new user would, with the emulator as the service. Returns the folder of the installed package, and the
 * service's settings as `pulumi config set` takes them.
 */
async function quickStart(user, { step, readme }) {
  const [install, ...commands] = commandsOf(sectionOf(readme, "Quick start"));
  const [start, send] = commandsOf(sectionOf(readme, "Receiving deliveries"));
  const installed = path.join(user.folder, "node_modules/pulumi-webhook-endpoints");

  await step(`README: ${install}`, () => user.type(install));
  await step("the package has every file that it names", () => checkInstalled(installed));
  if (fs.readFileSync(path.join(installed, "README.md"), "utf8") !== readme)
    throw new Error("the package has another README");

  const settings = await step("the emulator starts", () => startEmulator(user));
  user.write("Pulumi.yaml", "name: jobs\nruntime: nodejs\n");
  user.write("index.ts", codeOf(readme, "ts"));
  user.write("receiver.mjs", codeOf(readme, "js"));
  await user.type("pulumi stack init dev");
  for (const command of commands) await step(`README: ${command}`, () => answer(user, command, settings));
  await step("the endpoint of the README's program is registered", async () => {
    const list = await user.type("npx pulumi-webhook-endpoints list");
    if (!list.includes("jobs in jobs/dev")) throw new Error(list);
  });
  await step("the README's receiver handles a delivery", () => deliver(user, { start, send }));
  return { installed, settings };
}

/** Starts the emulator, and returns the values that it prints for `pulumi config set`. */
async function startEmulator(user) {
  const until = user.start(`exec ${COMMAND} emulator --port 0`);
  const printed = async (name) => (await until(new RegExp(`${name} '?([^\\s']+)`)))[1];
  return {
    "webhooks:baseUrl": await printed("webhooks:baseUrl"),
    "webhooks:apiKey": await printed("webhooks:apiKey"),
    signingSecret: await printed("signingSecret"),
  };
}

/** Types a command with the emulator's address, and at a prompt the value that the emulator printed. */
function answer(user, command, settings) {
  const [, name = ""] = /--secret (\S+)$/.exec(command) ?? [];
  const here = command.replace("https://api.example.com/v1", settings["webhooks:baseUrl"]);
  return user.type(here, settings[name]);
}

async function deliver(user, { start, send }) {
  const port = await freePort();
  user.write(
    "receiver.mjs",
    fs.readFileSync(path.join(user.folder, "receiver.mjs"), "utf8").replace("8080", port),
  );
  const done = user.start(start)(/^job_\w+ is done$/);
  // `done` fails when the receiver ends.
  await Promise.race([answers(`http://127.0.0.1:${port}`), done]);
  await user.type(send.replace("8080", port));
  await done;
}

/** Waits until something listens at a url. */
async function answers(url) {
  while (!(await fetch(url).catch(() => undefined))) await setTimeout(100);
}

async function freePort() {
  const server = createServer();
  const { port } = new URL(await listen(server));
  await new Promise((resolve) => server.close(resolve));
  return port;
}

module.exports = { answer, quickStart };
