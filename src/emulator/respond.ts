import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** An answer of the service. A string as `body` is sent as it is, anything else as JSON. */
export interface Answer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
}

export function refusal(
  status: number,
  error: string,
  message: string,
  headers: OutgoingHttpHeaders = {},
): Answer {
  return { status, headers, body: { error, message } };
}

/** How many bytes an oversized answer has by default. */
const DEFAULT_OVERSIZE = 32 * 1024 * 1024;
const CHUNK = " ".repeat(64 * 1024);

export function send(response: ServerResponse, answer: Answer): void {
  const text = textOf(answer);
  response.writeHead(answer.status, head(answer, text));
  response.end(text);
}

/** Sends the right status and headers and half of the body, then closes the connection. */
export function sendTruncated(response: ServerResponse, answer: Answer): void {
  const whole = withContent(answer);
  const text = textOf(whole);
  response.writeHead(whole.status, head(whole, text));
  response.write(half(text), () => response.socket?.destroySoon());
}

/** Sends a complete HTTP body that holds half of the JSON. */
export function sendMalformed(response: ServerResponse, answer: Answer): void {
  const whole = withContent(answer);
  send(response, { ...whole, body: half(textOf(whole)) });
}

export function sendEmpty(response: ServerResponse, answer: Answer): void {
  send(response, { status: withContent(answer).status });
}

/** Sends the right answer, padded with white space, without a content-length that would announce the size. */
export async function sendOversized(
  response: ServerResponse,
  answer: Answer,
  bytes = DEFAULT_OVERSIZE,
): Promise<void> {
  const whole = withContent(answer);
  response.writeHead(whole.status, { ...whole.headers, "content-type": "application/json" });
  await pipeline(Readable.from(padded(textOf(whole), bytes)), response).catch(() => undefined);
}

function* padded(text: string, bytes: number): Generator<string> {
  yield text;
  for (let left = bytes - Buffer.byteLength(text); left > 0; left -= CHUNK.length) {
    yield left < CHUNK.length ? " ".repeat(left) : CHUNK;
  }
}

function head(answer: Answer, text: string) {
  const content = text === "" ? {} : { "content-type": "application/json; charset=utf-8" };
  const length =
    answer.status === 204 || answer.status === 304 ? {} : { "content-length": Buffer.byteLength(text) };
  return { ...content, ...answer.headers, ...length };
}

/** Returns a string as it is, so that a fault can answer with anything, and serializes the rest. */
function textOf({ body }: Answer): string {
  if (body === undefined) return "";
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** Gives a 204 a status and a body, for faults that garble the body. */
function withContent(answer: Answer): Answer {
  return answer.status === 204 ? { ...answer, status: 200, body: { deleted: true } } : answer;
}

function half(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2));
}
