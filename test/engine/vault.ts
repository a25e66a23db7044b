import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts what the engine needs of a HashiCorp Vault to keep a stack's key, and returns its address. With a passphrase, each
 * command derives the key anew, which takes a fifth of its time. This one encrypts nothing: what is at rest is encrypted with
 * the key, as always, but whoever has the stack's settings has the key.
 */
export async function startVault(): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { plaintext, ciphertext = "" } = JSON.parse(Buffer.concat(chunks).toString());
    const isEncrypting = request.url?.startsWith("/v1/transit/encrypt/");
    const data = isEncrypting
      ? { ciphertext: `vault:v1:${plaintext}` }
      : { plaintext: ciphertext.replace("vault:v1:", "") };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data }));
  });
  // It lives as long as the tests of its file.
  server.unref();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
