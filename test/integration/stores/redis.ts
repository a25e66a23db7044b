import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedis, HOW_TO_GET_REDIS } from "../../../scripts/setup/redis";
import { type Store, startStoreServer } from "./store";

/** Starts a real Redis on a socket, whose path is its URL. It starts again empty. The arguments are for the server. */
export async function startRedis(...args: string[]): Promise<Store> {
  const command = findRedis();
  if (command === undefined) throw new Error(`There is no Redis to test with: ${HOW_TO_GET_REDIS}.`);
  const folder = mkdtempSync(join(tmpdir(), "redis-"));
  const url = join(folder, "redis.sock");
  const inFolder = ["--dir", folder, "--port", "0", "--unixsocket", url, "--save", "", "--appendonly", "no"];
  const launch = () => {
    const process = spawn(command, [...inFolder, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    return { process, log: process.stdout };
  };
  return startStoreServer({ name: "Redis", url, folder, launch, stopSignal: "SIGKILL" });
}

/** Starts a Redis that writes each command to the disk before it confirms it, as `appendfsync always` says. */
export function startDurableRedis(): Promise<Store> {
  return startRedis("--appendonly", "yes", "--appendfsync", "always");
}
