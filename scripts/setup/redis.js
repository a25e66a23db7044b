const fs = require("node:fs");
const path = require("node:path");
const { cache, isExecutable, run, succeed, withStage } = require("./tools");

/** Debian's and Ubuntu's packages. The first is little more than a link into the second. */
const PACKAGES = ["redis-server", "redis-tools"];
/** Matches the dependencies that are needed: libraries, except the C library, which must be this system's own. */
const LIBRARY = /^\s*\|?Depends: ((?:lib|lua)(?!c6\b)\S+)$/;
const TIMEOUT_SECONDS = 180;
const HOW_TO_GET_REDIS =
  "put a redis-server on PATH (apt-get install redis-server, dnf install redis, brew install redis) " +
  "or allow apt-get to reach its package lists, and run `node scripts/setup.js --for test` again";
/** Runs the unpacked server. It uses no absolute path, because the checkout may be moved, and only the shell, because PATH is the caller's. */
const LAUNCHER = `#!/bin/sh
here=\${0%/*}
LD_LIBRARY_PATH=$(printf '%s:' "$here"/usr/lib "$here"/usr/lib/*-linux-* "$here"/lib "$here"/lib/*-linux-*)
export LD_LIBRARY_PATH
exec "$here/usr/bin/redis-server" "$@"
`;

/** The folder of the unpacked packages, with the launcher. */
const unpacked = path.join(cache, "redis");

/** Returns the `redis-server` to test with: one on PATH, or the one that set-up unpacked; undefined if there is neither. */
function findRedis() {
  const folders = [...(process.env.PATH ?? "").split(path.delimiter).filter(Boolean), unpacked];
  return folders.map((folder) => path.join(folder, "redis-server")).find(isExecutable);
}

/** Unpacks the distribution's Redis into the cache. It installs nothing and doesn't need root. */
function redisStep() {
  return {
    lock: path.join(cache, "redis.lock"),
    doing: "unpacking Redis",
    isReady: () => findRedis() !== undefined,
    make: () => withStage(path.join(cache, "redis-stage"), unpack),
    without: "The tests with Redis",
    remedy: HOW_TO_GET_REDIS,
  };
}

async function unpack(stage) {
  const work = path.join(stage, "work");
  const files = path.join(stage, "files");
  for (const folder of [work, files]) fs.mkdirSync(folder);
  // This system's package lists may be missing or outdated, and only root can renew them.
  await download(work, []).catch(() => downloadByOwnLists(work));
  for (const name of fs.readdirSync(work).filter((each) => each.endsWith(".deb")))
    await succeed("dpkg-deb", ["-x", path.join(work, name), files]);
  const launcher = path.join(files, "redis-server");
  fs.writeFileSync(launcher, LAUNCHER, { mode: 0o755 });
  const { ok, lines } = await run(launcher, ["--version"]);
  if (!ok) throw new Error(`the unpacked redis-server does not run: ${lines.join(" ")}`);
  fs.rmSync(unpacked, { recursive: true, force: true });
  fs.renameSync(files, unpacked);
}

async function downloadByOwnLists(work) {
  console.log("Downloading package lists to find Redis.");
  const lists = path.join(work, "lists");
  fs.mkdirSync(path.join(lists, "partial"), { recursive: true });
  const options = [`Dir::State::Lists=${lists}`, `Dir::Cache=${work}`, "APT::Sandbox::User="];
  const flags = options.flatMap((option) => ["-o", option]);
  await apt("apt-get", [...flags, "update"]);
  await download(work, flags);
}

async function download(work, flags) {
  const depends = await apt("apt-cache", [...flags, "depends", ...PACKAGES]);
  const libraries = depends.flatMap((line) => LIBRARY.exec(line)?.[1] ?? []);
  await apt("apt-get", [...flags, "download", ...new Set([...PACKAGES, ...libraries])], work);
}

async function apt(command, args, cwd) {
  const { ok, reason, lines } = await run(command, args, { cwd, timeoutSeconds: TIMEOUT_SECONDS });
  if (!ok) throw new Error(lines.find((line) => line.startsWith("E: "))?.slice("E: ".length) ?? reason);
  return lines;
}

module.exports = { findRedis, HOW_TO_GET_REDIS, redisStep };
