// Rehearses a release of this checkout as it stands, and what its users do then, on this machine alone: an npm registry and a GitHub of
// its own, and empty homes.

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { findCli } = require("./setup/cli");
const { findLanguages } = require("./setup/languages");
const { onEnd, root } = require("./setup/tools");
const { checkRelease } = require("./rehearse/checks");
const { startGitHub } = require("./rehearse/github");
const { Machine } = require("./rehearse/machine");
const { goUp } = require("./rehearse/languages");
const { commandsOf, sectionOf } = require("./rehearse/pages");
const { quickStart } = require("./rehearse/quickStart");
const { startRegistry } = require("./rehearse/registry");
const { commandsOfJob } = require("./rehearse/workflow");

const repository = process.env.GITHUB_REPOSITORY ?? "example-owner/pulumi-webhook-endpoints";
/** How long a step may take, in seconds: one that is alone takes fifteen at most. */
const STEP_SECONDS = 180;
const place = fs.mkdtempSync(path.join(os.tmpdir(), "rehearsal-"));
onEnd(() => fs.rmSync(place, { recursive: true, force: true, maxRetries: 3 }));

/** Runs a step, and prints its name and how long it took. If it fails, or doesn't end, nothing else runs. */
async function step(name, work) {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(1)} s`.padStart(6);
  const late = new Promise((_, reject) => {
    const error = new Error(`not finished after ${STEP_SECONDS} s`);
    setTimeout(reject, STEP_SECONDS * 1_000, error).unref();
  });
  try {
    const result = await Promise.race([work(), late]);
    console.log(`ok     ${seconds()}  ${name}`);
    return result;
  } catch (error) {
    console.log(`FAILED ${seconds()}  ${name}`);
    throw error;
  }
}

/** Copies the files that git knows or would add, as they are now, with the packages that are installed here. */
function copyCheckout(folder) {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  for (const file of files.filter((each) => fs.existsSync(path.join(root, each))))
    fs.cpSync(path.join(root, file), path.join(folder, file), { verbatimSymlinks: true });
  fs.symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
}

/** Runs the commands of the release's jobs, each on a machine of its own: what publishes has no checkout. Returns the version. */
async function release({ registry, releases }) {
  const { version } = require("../package.json");
  const bin = path.join(place, "bin");
  fs.mkdirSync(bin);
  const gh = `#!/bin/sh\nexec '${process.execPath}' '${path.join(__dirname, "rehearse/gh.js")}' "$@"\n`;
  fs.writeFileSync(path.join(bin, "gh"), gh, { mode: 0o755 });
  const env = { GITHUB_REPOSITORY: repository, GITHUB_REF_NAME: `v${version}`, RELEASES: releases };
  const outputs = path.join(place, "outputs");
  const build = new Machine(path.join(place, "build"), { env: { ...env, GITHUB_OUTPUT: outputs } });
  configureNpm(build, registry);
  copyCheckout(build.folder);
  await runJob("build", build);
  const [, SHA256] = /^sha256=(\w+)$/m.exec(fs.readFileSync(outputs, "utf8")) ?? [];
  const publish = new Machine(path.join(place, "publish"), { path: [bin], env: { ...env, SHA256 } });
  configureNpm(publish, registry);
  fs.copyFileSync(path.join(build.folder, "release.tar"), path.join(publish.folder, "release.tar"));
  await runJob("publish", publish);
  const folder = path.join(releases, `v${version}`);
  await step("the release has what the CLI looks for", () => checkRelease(folder, { version, repository }));
  return version;
}

/** Runs the commands of a job of the release. */
async function runJob(name, machine) {
  for (const command of commandsOfJob(name))
    await step(`release.yml, ${name}: ${command.trim().split("\n")[0]}`, () => machine.type(command));
}

/** Lets npm install from the registry, and publish to it. */
function configureNpm(machine, registry) {
  const token = `//${new URL(registry.url).host}/:_authToken=rehearsal`;
  const settings = [`registry=${registry.url}`, token, "audit=false", "fund=false", "update-notifier=false"];
  fs.writeFileSync(path.join(machine.env.HOME, ".npmrc"), `${settings.join("\n")}\n`);
}

/** Returns the machine of a user whose CLI is on PATH and keeps everything, also the states of stacks, in the user's home. */
function userMachine(name, { registry, github, languages = [] }) {
  const env = {
    PULUMI_BACKEND_URL: `file://${path.join(place, name)}`,
    PULUMI_CONFIG_PASSPHRASE: "rehearsal",
    PULUMI_SKIP_CONFIRMATIONS: "true", // a person answers "yes"
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_REGISTRY_RESOLVE: "true", // that registry is on the internet
    PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: `^github://api.github.com/${repository}$=${github.url}/${repository}/releases/download/v${github.version}`,
  };
  const machine = new Machine(path.join(place, name), { path: [findCli(), ...languages], env });
  configureNpm(machine, registry);
  return machine;
}

async function main() {
  const readme = fs.readFileSync(path.join(root, "README.md"), "utf8");
  const releases = path.join(place, "releases");
  const registry = await startRegistry({ modules: path.join(root, "node_modules"), stage: place });
  const version = await release({ registry, releases });
  const github = await startGitHub({ folder: releases, repository, version });

  const { installed, settings } = await quickStart(userMachine("typescript", { registry, github }), {
    step,
    readme,
  });
  const page = fs.readFileSync(path.join(installed, "docs/other-languages.md"), "utf8");
  const languages = findLanguages()?.path;
  if (languages === undefined) throw new Error("there are no language hosts: see above");
  for (const language of ["yaml", "python"]) {
    const user = userMachine(language, { registry, github, languages: [languages] });
    const name = `\`pulumi up\` of the page's program in ${language} downloads the plugin`;
    await step(name, () => goUp(user, { language, page, settings, github, repository }));
  }
  const [, , install] = commandsOf(sectionOf(page, "Install the plugin"));
  await step(install, () => installPlugin(userMachine("plugin", { registry, github }), install));

  console.log(`
Installed on this machine alone:
  npm      ${registry.published.join()} from ${registry.url}
  plugin   webhooks ${version} from github://api.github.com/${repository}, which was ${github.url}`);
}

/** Installs the plugin by hand, and looks whether it is there. */
async function installPlugin(user, command) {
  await user.type(command.replace("OWNER/REPO", repository));
  const listed = await user.type("pulumi plugin ls --json");
  if (!listed.includes('"webhooks"')) throw new Error(`\`pulumi plugin ls\` prints ${listed}`);
}

main().then(
  // What still runs ends with this process.
  () => process.exit(0),
  (error) => {
    console.error(`rehearse: ${error.message}`);
    process.exit(1);
  },
);
