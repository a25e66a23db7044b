import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { listen } from "../../emulator/http";
import { readEvent } from "../../receiver/delivery";
import { type DeliveryAnswer, postDelivery } from "../../shared/post";
import { verifyDetailed } from "../../signature/verify";
import { type Capture, deliveryHeaders, type HeaderPair } from "../capture";
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
  /** What the url of `--forward-to` answered. With a failure, the answer is incomplete at best. Absent if it was not asked. */
  readonly forwarded?: DeliveryAnswer;
  /** Whether it was forwarded once more, without a request. */
  readonly isReplay: boolean;
}

/** As a receiver's. In bytes. */
const LARGEST_BODY = 1024 * 1024;
const RETURNED_HEADERS = ["content-type", "content-encoding", "retry-after"];

/** Sends a delivery on, byte for byte. Never rejects. */
export function forward({ headers, body }: Capture, url: string): Promise<DeliveryAnswer> {
  return postDelivery({ url, headers: deliveryHeaders(headers), body, longestAnswer: LARGEST_BODY });
}

interface ReceiverOptions {
  readonly port: number;
  /** Undefined: no signature is checked. */
  readonly signing: SigningSecrets | undefined;
  /** The url that what is not refused is sent on to. */
  readonly target: string | undefined;
  readonly onArrival: (arrival: Arrival) => void;
}

/** Receives deliveries at every path, on this machine only. @throws EmulatorError `PORT_UNAVAILABLE` */
export function startReceiver({ port, signing, target, onArrival }: ReceiverOptions) {
  return listen("127.0.0.1", port, async (request, response) => {
    const at = new Date();
    const headers = pairsOf(request.rawHeaders);
    const body = await bodyOf(request).catch(() => undefined);
    if (body === undefined) return response.destroy();
    const { verdict, refusal } = judge(request, { headers, body }, signing);
    const isRefused = refusal !== undefined;
    const { event, jobId } = readEvent(body);
    const id = request.headers["webhook-id"]?.toString();
    const isForwarded = !isRefused && target !== undefined;
    const forwarded = isForwarded ? await forward({ headers, body }, target) : undefined;
    const answer = refusal ?? answerAfter(forwarded);
    const { status } = answer;
    const arrival = { at, headers, body, id, event, jobId, verdict, isRefused, status, isReplay: false };
    onArrival({ ...arrival, ...(forwarded && { forwarded }) });
    response.writeHead(status, answer.headers).end(answer.body);
  });
}

interface Answer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

function judge(
  { method }: IncomingMessage,
  { headers, body }: Capture,
  signing: SigningSecrets | undefined,
): { readonly verdict: string; readonly refusal?: Answer } {
  if (method !== "POST") return { verdict: "method", refusal: { status: 405 } };
  if (body.byteLength > LARGEST_BODY) return { verdict: "size", refusal: { status: 413 } };
  if (signing === undefined) return { verdict: "not checked" };
  const result = verifyDetailed(body, headers, signing.secrets, signing.toleranceSeconds);
  if (result.ok) return { verdict: "verified" };
  // The reason is for the terminal only: a forger must learn nothing.
  return {
    verdict: result.reason,
    refusal: { status: 401, body: "not verified. The terminal of listen says why\n" },
  };
}

/** Returns the answer of the url of `--forward-to`. A sender that got a part of one would take the delivery for done; after 502, it retries. */
function answerAfter(forwarded: DeliveryAnswer | undefined): Answer {
  if (forwarded === undefined) return { status: 200 };
  const { status, headers, body, failure } = forwarded;
  if (status === null || failure !== null)
    return { status: 502, body: "the receiver of --forward-to did not answer\n" };
  const returned = Object.entries(headers).filter(([name]) => RETURNED_HEADERS.includes(name));
  return { status, headers: Object.fromEntries(returned), body };
}

/** Reads a body, of one that is too large only the beginning. Rejects if it ends early. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > LARGEST_BODY) break;
  }
  return Buffer.concat(chunks);
}

function pairsOf(raw: readonly string[]): HeaderPair[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as const] : []));
}
