import { randomBytes } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import type { Receiver } from "../../src/receiver";
import { nodeHandler } from "../../src/receiver/adapters/node";

export function newSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

/** Returns a configuration as a stack's output holds it, without the fingerprint, which is computed again anyway. */
export function configText(...secrets: readonly unknown[]): string {
  const endpoints = { jobs: { id: "wh_1", url: "https://hooks.example.com/jobs", type: "production" } };
  return JSON.stringify({ version: 1, secrets, toleranceSeconds: 300, endpoints });
}

export interface Served {
  readonly url: string;
  /** Waits until the requests in progress have ended, and frees the port. */
  close(): Promise<void>;
}

export async function serve(receiver: Receiver, port = 0): Promise<Served> {
  const server = http.createServer(nodeHandler(receiver));
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jobs`,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
}

/** Returns the error that `act` throws. */
export async function thrownBy(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

/** Returns the parts of these secrets, six characters each, that an error contains, in hidden properties and causes too. */
export function leaked(error: unknown, secrets: readonly unknown[]): string[] {
  const told = typeof error === "string" ? error : inspect(error, { depth: null, showHidden: true });
  const parts = secrets.flatMap((secret) => {
    const key = String(secret).replace(/^whsec_/, "");
    return Array.from({ length: Math.max(0, key.length - 5) }, (_, at) => key.slice(at, at + 6));
  });
  return parts.filter((part) => told.includes(part));
}
