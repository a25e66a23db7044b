import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** The server behind a queue or a dedupe store: a real one, in a folder of its own, so that tests can run in parallel. */
export interface Store {
  /** What a client connects to. */
  readonly url: string;
  /** Makes it unreachable at once, without a warning. It keeps everything that it has confirmed and stored durably. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its files. */
  dispose(): Promise<void>;
}

interface StoreServerOptions {
  readonly name: string;
  readonly url: string;
  readonly folder: string;
  /** Starts the process, and returns it with the stream that it logs to. */
  readonly launch: () => { readonly process: ChildProcess; readonly log: Readable };
  /** Ends it without a moment to save anything. */
  readonly stopSignal: NodeJS.Signals;
}

/** Starts a store that is a process with its files in a folder. */
export async function startStoreServer(options: StoreServerOptions): Promise<Store> {
  const { name, url, folder, launch, stopSignal } = options;
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
  return { url, start, stop, dispose };
}
