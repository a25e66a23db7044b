import { spawn } from "node:child_process";
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { findMoto, HOW_TO_GET_MOTO } from "../../../scripts/setup/moto";
import type { Store } from "./store";

/**
 * Starts moto, which answers the API of Amazon SQS, behind a proxy. moto keeps its queues in memory only, so `stop` breaks the proxy's
 * connections and refuses new ones: what a client of SQS sees of an outage.
 */
export async function startSqs(): Promise<Store> {
  const command = findMoto();
  if (command === undefined) throw new Error(`There is no moto to test with: ${HOW_TO_GET_MOTO}.`);
  const server = spawn(command, ["--host", "127.0.0.1", "--port", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: process.env,
  });
  const lines: string[] = [];
  let backend: number | undefined;
  for await (const line of createInterface({ input: server.stderr })) {
    lines.push(line);
    backend = Number(/Running on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]);
    if (backend > 0) break;
  }
  server.stderr.resume();
  if (!backend) throw new Error(`moto did not start:\n${lines.join("\n")}`);

  const open = new Set<net.Socket>();
  const proxy = net.createServer((from) => {
    const to = net.connect(backend ?? 0, "127.0.0.1");
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => open.delete(socket) && other.destroy());
    }
    from.pipe(to).pipe(from);
  });
  let port = 0;
  async function start(): Promise<void> {
    proxy.listen(port, "127.0.0.1");
    await once(proxy, "listening");
    port = (proxy.address() as AddressInfo).port;
  }
  async function stop(): Promise<void> {
    if (!proxy.listening) return;
    const closed = once(proxy, "close");
    proxy.close();
    for (const socket of open) socket.destroy();
    await closed;
  }
  async function dispose(): Promise<void> {
    await stop();
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  }
  await start();
  return { url: `http://127.0.0.1:${port}`, start, stop, dispose };
}
