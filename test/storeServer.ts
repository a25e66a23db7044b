import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

interface StoreServerOptions {
  readonly name: string;
  readonly folder: string;
  /** Starts the process, and returns it with the stream that it logs to. */
  readonly launch: () => { readonly process: ChildProcess; readonly log: Readable };
  /** Ends it without a moment to save anything. */
  readonly stopSignal: NodeJS.Signals;
}

/** The server of a store, with its files in a folder of its own. */
export interface StoreServer {
  /** Starts it again. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops it and removes its folder. */
  dispose(): Promise<void>;
}

export async function startStoreServer(options: StoreServerOptions): Promise<StoreServer> {
  const { name, folder, launch, stopSignal } = options;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const { process, log } = launch();
    server = process;
    const lines: string[] = [];
    for await (const line of createInterface({ input: log })) {
      lines.push(line);
      if (!/ready to accept connections/i.test(line)) continue;
      log.resume();
      return;
    }
    throw new Error(`${name} did not start:\n${lines.join("\n")}`);
  }

  async function stop(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill(stopSignal);
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
  return { start, stop, dispose };
}
