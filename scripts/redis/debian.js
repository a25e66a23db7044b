const fs = require("node:fs");
const path = require("node:path");
const { run } = require("../setup/run");

/** Debian's and Ubuntu's packages. The first is little more than a link into the second. */
const PACKAGES = ["redis-server", "redis-tools"];

/** Matches the dependencies that are needed: libraries, except the C library, which must be this system's own. */
const LIBRARY = /^\s*\|?Depends: ((?:lib|lua)(?!c6\b)\S+)$/;

const TIMEOUT_SECONDS = 180;

/**
 * Downloads the distribution's packages with apt-get and unpacks them into the folder `files`, from where `redis-server` then runs.
 * Returns the reason why that failed, or "" if it succeeded.
 */
async function unpackDebian({ files, work }) {
  fs.mkdirSync(files);
  fs.mkdirSync(work);
  const reason = await download(work, []);
  // This system's package lists may be missing or outdated, and only root can renew them.
  const failure = reason && (await downloadByOwnLists(work));
  if (failure) return failure;

  for (const name of fs.readdirSync(work).filter((each) => each.endsWith(".deb"))) {
    const { ok, reason } = await run("dpkg-deb", ["-x", path.join(work, name), files]);
    if (!ok) return reason;
  }
  writeLauncher(files);
  const { ok, lines } = await run(path.join(files, "redis-server"), ["--version"]);
  return ok ? "" : `the unpacked redis-server does not run: ${lines.join(" ")}`;
}

async function downloadByOwnLists(work) {
  console.log("Downloading package lists to find Redis.");
  const lists = path.join(work, "lists");
  fs.mkdirSync(path.join(lists, "partial"), { recursive: true });
  const options = [`Dir::State::Lists=${lists}`, `Dir::Cache=${work}`, "APT::Sandbox::User="];
  const flags = options.flatMap((option) => ["-o", option]);
  const { ok, reason, lines } = await run("apt-get", [...flags, "update"], {
    timeoutSeconds: TIMEOUT_SECONDS,
  });
  return ok ? download(work, flags) : complaint(reason, lines);
}

/** Downloads the packages into `work`. Returns the reason why that failed, or "". */
async function download(work, flags) {
  const depends = await run("apt-cache", [...flags, "depends", ...PACKAGES]);
  if (!depends.ok) return complaint(depends.reason, depends.lines);
  const libraries = depends.lines.flatMap((line) => LIBRARY.exec(line)?.[1] ?? []);
  const args = [...flags, "download", ...new Set([...PACKAGES, ...libraries])];
  const { ok, reason, lines } = await run("apt-get", args, { cwd: work, timeoutSeconds: TIMEOUT_SECONDS });
  return ok ? "" : complaint(reason, lines);
}

function complaint(reason, lines) {
  return lines.find((line) => line.startsWith("E: "))?.slice("E: ".length) ?? reason;
}

/**
 * Writes a script that runs the unpacked server. It uses no absolute path, because the checkout may be moved, and only the shell,
 * because PATH is the caller's.
 */
function writeLauncher(files) {
  const folders = ["usr/lib", "lib"].flatMap((folder) => [
    `$here/${folder}`,
    ...foldersIn(path.join(files, folder)).map((name) => `$here/${folder}/${name}`),
  ]);
  const script = `#!/bin/sh
here=\${0%/*}
LD_LIBRARY_PATH="${folders.join(":")}" exec "$here/usr/bin/redis-server" "$@"
`;
  fs.writeFileSync(path.join(files, "redis-server"), script, { mode: 0o755 });
}

/** Returns the folders for architectures, such as `x86_64-linux-gnu`. */
function foldersIn(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder).filter((name) => name.includes("-linux-"));
}

module.exports = { unpackDebian };
