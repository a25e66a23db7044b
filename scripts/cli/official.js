const fs = require("node:fs");
const path = require("node:path");
const { root } = require("../setup/paths");
const { run } = require("../setup/run");
const { missingFrom, CLI_VERSION } = require("./folder");
const { publish } = require("./stage");

/** The time limit for the download, in seconds, unless SETUP_DOWNLOAD_SECONDS sets another. */
const DEFAULT_SECONDS = 30;

/** Lets the launcher download the official build. Returns the reason why that failed, or "" if it succeeded. */
async function installOfficial(stage) {
  const launcher = path.join(root, "node_modules/pulumi/run.js");
  const temporary = path.join(stage, "tmp");
  fs.mkdirSync(temporary);
  const env = {
    ...process.env,
    PULUMI_HOME: stage,
    PULUMI_VERSION: CLI_VERSION,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    TMPDIR: temporary,
  };
  const timeoutSeconds = Number(process.env.SETUP_DOWNLOAD_SECONDS) || DEFAULT_SECONDS;
  const { ok, reason, lines } = await run(process.execPath, [launcher, "version"], { env, timeoutSeconds });
  if (!ok) return lines.findLast((line) => line.startsWith("pulumi: ")) ?? reason;

  const bin = path.join(stage, "versions", CLI_VERSION, "bin");
  const missing = missingFrom(bin);
  if (missing.length > 0) return `the download lacks ${missing.join(" and ")}`;
  publish(bin);
  return "";
}

module.exports = { installOfficial };
