const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { onEnd } = require("../setup/cleanup");
const { withLock } = require("../setup/lock");
const { run } = require("../setup/run");
const { hosts, installPython } = require("./parts");

/** Another set of versions is another folder. */
const languageSet = "yaml-1.30.0-python-3.60.0";

const howToGetLanguages =
  "install Go (https://go.dev/dl) and Python 3.9 or later with venv, let their registries be reached, and run " +
  "`node scripts/setup.js --for test` again";

function folder() {
  const home = process.env.PULUMI_HOME || path.join(os.homedir(), ".pulumi");
  return path.join(home, "languages", languageSet);
}

/** Described in index.d.ts. */
function findLanguages() {
  const home = folder();
  if (!fs.existsSync(home)) return undefined;
  return { path: [path.join(home, "bin"), path.join(home, "python/bin")].join(path.delimiter) };
}

/** Described in index.d.ts. */
async function ensureLanguages() {
  if (findLanguages() !== undefined) return;
  const home = folder();
  const onWait = () => console.log("Another set-up is building the language hosts; waiting for it.");
  await withLock(`${home}.lock`, { onWait }, async () => {
    if (findLanguages() !== undefined) return;
    console.log("Building the language hosts of YAML and Python: once, about two minutes on two cores.");
    const reason = await install(home);
    if (reason !== "")
      console.log(`The tests of other languages will fail: ${reason}. To repair this, ${howToGetLanguages}.`);
  });
}

/** Fills a stage, and renames it into place when it is complete. Returns the reason why it could not, or "". */
async function install(home) {
  const stage = `${home}.stage`;
  const remove = () => fs.rmSync(stage, { recursive: true, force: true, maxRetries: 3 });
  remove();
  const callOff = onEnd(remove);
  try {
    fs.mkdirSync(path.join(stage, "bin"), { recursive: true });
    for (const host of hosts) {
      const reason = await buildHost(host, path.join(stage, "bin"));
      if (reason !== "") return reason;
    }
    const reason = await installPython(path.join(stage, "python"));
    if (reason === "") fs.renameSync(stage, home);
    return reason;
  } finally {
    callOff();
    remove();
  }
}

async function buildHost({ name, module, from, beside }, bin) {
  const env = { ...process.env, GOWORK: "off", GOFLAGS: "" };
  const flags = ["-mod=readonly", "-buildvcs=false", "-tags", "osusergo,grpcnotrace", "-ldflags", "-s -w"];
  const built = await run("go", ["build", ...flags, "-o", path.join(bin, name), from], { cwd: module, env });
  if (!built.ok) return [built.reason, ...built.lines.slice(-5)].join("\n");
  if (beside === undefined) return "";

  const found = await run("go", ["list", "-mod=readonly", "-f", "{{.Dir}}", from], { cwd: module, env });
  if (!found.ok) return found.reason;
  const source = path.join(found.lines.at(-1), "..", beside);
  fs.copyFileSync(source, path.join(bin, beside));
  fs.chmodSync(path.join(bin, beside), 0o755);
  return "";
}

module.exports = { ensureLanguages, findLanguages, howToGetLanguages, languageSet };
