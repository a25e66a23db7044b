import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
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

const host = "127.0.0.1";
/** The bus of a cluster listens on the port 10,000 higher. */
const HIGHEST_PORT = 55_535;

/** Starts a Redis that also listens on a port, as replicas and clusters need. Another process may take the port before it listens. */
export async function startRedisOnPort(...args: string[]) {
  for (let attempts = 10; ; attempts--) {
    const port = await freePort();
    try {
      return { port, server: await startRedis(...args, "--bind", host, "--port", String(port)) };
    } catch (error) {
      if (attempts === 1) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port <= HIGHEST_PORT ? port : freePort();
}
