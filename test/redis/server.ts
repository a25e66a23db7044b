import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findRedis, howToGetRedis } from "../../scripts/redis";

export interface RedisServer {
  /** The socket it listens on. */
  readonly path: string;
  stop(): Promise<void>;
  /** Starts it again, empty. */
  start(): Promise<void>;
  /** Stops it and removes its files. */
  dispose(): Promise<void>;
}

/** Starts a real Redis on a socket in a folder of its own, so that tests can run in parallel. The arguments are for the server. */
export async function startRedis(...args: string[]): Promise<RedisServer> {
  const command = findRedis();
  if (command === undefined) throw new Error(`No Redis found: ${howToGetRedis}.`);
  const folder = mkdtempSync(join(tmpdir(), "redis-"));
  const path = join(folder, "redis.sock");
  const inFolder = ["--dir", folder, "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no"];
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const started = spawn(command ?? "", [...inFolder, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    server = started;
    const lines: string[] = [];
    for await (const line of createInterface({ input: started.stdout })) {
      lines.push(line);
      if (!/ready to accept connections/i.test(line)) continue;
      started.stdout.resume();
      return;
    }
    throw new Error(`Redis did not start:\n${lines.join("\n")}`);
  }

  async function stop(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill("SIGKILL");
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
  return { path, start, stop, dispose };
}
