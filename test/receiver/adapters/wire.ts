import net from "node:net";

/** Opens a connection and speaks HTTP by hand. `response` resolves with everything received, when the connection ends. */
export function raw(port: number, ...parts: (string | Buffer)[]) {
  const socket = net.connect(port, "127.0.0.1");
  const response = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => (text += chunk)).on("close", () => resolve(text));
    socket.on("error", () => {});
  });
  for (const part of parts) socket.write(part);
  return { socket, response };
}

type Pairs = readonly (readonly [name: string, value: string])[];

/** Returns the head of a POST to `/jobs`. Pairs may name a header twice. */
export function head(headers: Readonly<Record<string, string>> | Pairs): string {
  const pairs = Array.isArray(headers) ? (headers as Pairs) : Object.entries(headers);
  const lines = pairs.map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /jobs HTTP/1.1\r\nhost: a\r\n${lines.join("")}\r\n`;
}
