import { startRedis } from "../../redis/server";
import type { Store } from "./store";

/** Starts a Redis that writes each command to the disk before it confirms it, as `appendfsync always` says. */
export async function startDurableRedis(): Promise<Store> {
  const server = await startRedis("--appendonly", "yes", "--appendfsync", "always");
  const { path, start, stop, dispose } = server;
  return { url: path, start, stop, dispose };
}
