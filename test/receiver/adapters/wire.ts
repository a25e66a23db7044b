import net from "node:net";

/** Speaks HTTP by hand. Resolves with all that was answered when the connection ends. */
export function raw(port: number, ...parts: (string | Buffer)[]) {
  const socket = net.connect(port, "127.0.0.1");
  const answer = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => (text += chunk)).on("close", () => resolve(text));
    socket.on("error", () => {});
  });
  for (const part of parts) socket.write(part);
  return { socket, answer };
}

/** The head of a POST to `/hooks`. Pairs may name a header twice. */
export function head(
  headers: Readonly<Record<string, string>> | readonly (readonly [string, string])[],
): string {
  const pairs: readonly (readonly [string, string])[] = Array.isArray(headers)
    ? headers
    : Object.entries(headers);
  const lines = pairs.map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /hooks HTTP/1.1\r\nhost: a\r\n${lines.join("")}\r\n`;
}
