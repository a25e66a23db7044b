import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";

/** A response of the service. */
export interface EmulatedResponse {
  /** The HTTP status. */
  readonly status: number;
  /** Besides those of the content. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/**
 * Returns whether the Host of a request can be this machine's own: an IP address, a name without a dot, or `host`. A website that
 * rebinds its name to this machine sends that name, which has a dot.
 */
export function isOwnHost({ headers }: IncomingMessage, host: string): boolean {
  const name = (headers.host ?? "").replace(/:\d{1,5}$/, "").toLowerCase();
  const isAddress = isIP(name.replace(/^\[|\]$/g, "")) !== 0;
  return isAddress || !name.includes(".") || name.endsWith(".localhost") || name === host.toLowerCase();
}

export function send(response: ServerResponse, { status, headers = {}, body = "" }: EmulatedResponse): void {
  const content = textOf(body);
  response.statusCode = status;
  if (content !== "") response.setHeader("content-type", "application/json; charset=utf-8");
  response.setHeaders(new Map(Object.entries(headers)));
  response.end(content);
}

/** Returns the content of a response's body. */
export function textOf(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}
