import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/**
 * Starts what the CLI takes for the transit engine of Vault, and keeps the keys of stacks with: to derive a key from a passphrase costs
 * every command 0.16 seconds of processor time. The tests of the demo, the tutorial and the recipes use a passphrase.
 */
export async function startKeyService(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { plaintext, ciphertext } = (await json(request)) as { plaintext?: string; ciphertext?: string };
    const data = ciphertext === undefined ? { ciphertext: plaintext } : { plaintext: ciphertext };
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

export function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
