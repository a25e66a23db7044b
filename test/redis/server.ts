import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedis, HOW_TO_GET_REDIS } from "../../scripts/redis";
import { type StoreServer, startStoreServer } from "../storeServer";

/** Starts again empty. */
export interface RedisServer extends StoreServer {
  /** The socket it listens on. */
  readonly path: string;
}

/** Starts a real Redis on a socket in a folder of its own, so that tests can run in parallel. The arguments are for the server. */
export async function startRedis(...args: string[]): Promise<RedisServer> {
  const command = findRedis();
  if (command === undefined) throw new Error(`There is no Redis to test with: ${HOW_TO_GET_REDIS}.`);
  const folder = mkdtempSync(join(tmpdir(), "redis-"));
  const path = join(folder, "redis.sock");
  const inFolder = ["--dir", folder, "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no"];
  const launch = () => {
    const process = spawn(command, [...inFolder, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    return { process, log: process.stdout };
  };
  return { path, ...(await startStoreServer({ name: "Redis", folder, launch, stopSignal: "SIGKILL" })) };
}
