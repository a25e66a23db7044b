import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { readEvent } from "../../receiver/event";
import { postDelivery } from "../../shared/post";
import { verifyDetailed } from "../../signature/verify";
import { type Capture, deliveryHeaders, type HeaderPair } from "../capture";
import { CliError } from "../errors";
import type { SigningSecrets } from "../secrets";

/** A request that was answered. */
export interface Arrival extends Capture {
  readonly at: Date;
  /** As the header claims it. */
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  /** "verified", "not checked" without a secret, or the reason why it was refused. */
  readonly verdict: string;
  readonly isRefused: boolean;
  /** What the sender was answered. */
  readonly status: number;
  /** What the url of `--forward-to` answered. Absent if it was not asked. */
  readonly forwarded?: Forwarded;
}

/** What the url of `--forward-to` answered, as the sender gets it. */
export interface Forwarded {
  /** Null if it did not answer, or not to the end. */
  readonly status: number | null;
  /** Why it did not, such as `ECONNREFUSED`. */
  readonly failure: string | null;
  readonly durationMs: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** As a receiver's. In bytes. */
const LARGEST_BODY = 1024 * 1024;
const MOST_CONNECTIONS = 256;
const RETURNED_HEADERS = ["content-type", "content-encoding", "retry-after"];

/** Sends a delivery on, byte for byte. Never rejects. */
export async function forward({ headers, body }: Capture, url: string): Promise<Forwarded> {
  const given = { url, headers: deliveryHeaders(headers), body, longestAnswer: LARGEST_BODY };
  const answer = await postDelivery(given);
  const { durationMs, failure } = answer;
  // A sender that got a part of the answer would take the delivery for done. After 502, it retries.
  if (failure !== null) {
    const body = Buffer.from("the receiver of --forward-to did not answer\n");
    return { status: null, failure, durationMs, headers: { "content-type": "text/plain" }, body };
  }
  const returned = RETURNED_HEADERS.map((name) => [name, answer.headers[name]?.toString() ?? ""] as const);
  const kept = Object.fromEntries(returned.filter(([, value]) => value !== ""));
  return { status: answer.status, failure, durationMs, headers: kept, body: answer.body };
}

interface ReceiverOptions {
  readonly port: number;
  /** Undefined: no signature is checked. */
  readonly signing: SigningSecrets | undefined;
  /** The url that what is not refused is sent on to. */
  readonly target: string | undefined;
  readonly onArrival: (arrival: Arrival) => void;
}

/** Receives deliveries at every path, on this machine only. @throws CliError `PORT_UNAVAILABLE` */
export async function startReceiver({ port, signing, target, onArrival }: ReceiverOptions) {
  const server = http.createServer(async (request, response) => {
    const at = new Date();
    const headers = pairsOf(request.rawHeaders);
    const body = await bodyOf(request);
    if (body === undefined) return response.destroy();
    const { verdict, refusal } = judge(request, { headers, body }, signing);
    const { event, jobId } = readEvent(body);
    const id = request.headers["webhook-id"]?.toString();
    const arrival = { at, headers, body, id, event, jobId, verdict, isRefused: refusal !== undefined };
    const isForwarded = refusal === undefined && target !== undefined;
    const forwarded = isForwarded ? await forward(arrival, target) : undefined;
    const status = refusal ?? (forwarded === undefined ? 200 : (forwarded.status ?? 502));
    onArrival({ ...arrival, status, ...(forwarded && { forwarded }) });
    response.writeHead(status, forwarded?.headers).end(forwarded?.body);
  });
  server.maxConnections = MOST_CONNECTIONS;
  return serve(server, { port, option: "--port" });
}

/** Starts a server on this machine. @throws CliError `PORT_UNAVAILABLE` */
export async function serve(server: http.Server, { port, option }: { port: number; option: string }) {
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(
      "PORT_UNAVAILABLE",
      `cannot listen on port ${port} (${code}). Choose another with ${option}`,
    );
  }
  // Whoever waits for an answer retries.
  const close = async () => {
    const closed = once(server.close(), "close");
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

function judge(
  { method }: IncomingMessage,
  { headers, body }: Capture,
  signing: SigningSecrets | undefined,
): { readonly verdict: string; readonly refusal?: number } {
  if (method !== "POST") return { verdict: "method", refusal: 405 };
  if (body.byteLength > LARGEST_BODY) return { verdict: "size", refusal: 413 };
  if (signing === undefined) return { verdict: "not checked" };
  const result = verifyDetailed(body, headers, signing.secrets, signing.toleranceSeconds);
  return result.ok ? { verdict: "verified" } : { verdict: result.reason, refusal: 401 };
}

/** Reads a body, of one that is too large only the beginning. Returns undefined if it ended early. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LARGEST_BODY) break;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

function pairsOf(raw: readonly string[]): HeaderPair[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as const] : []));
}
