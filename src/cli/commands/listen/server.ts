import type { IncomingMessage, RequestListener } from "node:http";
import { REFUSALS, reasonToRefuse } from "../../../receiver/responses";
import { dropBody, LARGEST_BODY, readBody } from "../../../shared/body";
import type { Capture, HeaderPair } from "../../../shared/captureFile";
import { listen } from "../../../shared/listen";
import { type DeliveryResponse, postDelivery } from "../../../shared/post";
import { readEvent } from "../../../signature/event";
import { fingerprintOf } from "../../../signature/secret";
import { verifyDetailed } from "../../../signature/verify";
import { deliveryHeaders } from "../../capture";
import { CliError } from "../../errors";
import type { SigningSecrets } from "../../secrets";

/** A request that the local server of `listen` got, and what came of it: verified, forwarded, refused. */
export interface Arrival extends Omit<Capture, "receivedAt"> {
  readonly at: Date;
  /** As `--json` prints it. */
  readonly summary: {
    /** Without its query, which may hold a token. */
    readonly path: string;
    /** As the header claims it. */
    readonly id: string | null;
    readonly event: string | null;
    readonly jobId: string | null;
    readonly bytes: number;
    /** "verified", "not checked" without a secret, or the reason why it was refused. */
    readonly verdict: string;
    /** The fingerprints of the secrets that did not sign it, if the signature does not match. */
    readonly tried: readonly string[];
    readonly isRefused: boolean;
    /** The status that the sender got. */
    readonly status: number;
  };
  /** The response of the url of `--forward-to`. With a failure, it is incomplete at best. Undefined if nothing was forwarded. */
  readonly forwarded: DeliveryResponse | undefined;
  /** True if it was forwarded once more, without a request. */
  readonly isReplay: boolean;
}

const RETURNED_HEADERS = ["content-type", "content-encoding", "retry-after"];

/** Sends a delivery on, byte for byte. Never rejects. */
export function forward({ headers, body }: Capture, url: string): Promise<DeliveryResponse> {
  return postDelivery({ url, headers: deliveryHeaders(headers), body, maxResponseBytes: LARGEST_BODY });
}

interface ServerOptions {
  readonly port: number;
  /** Undefined: no signature is checked. */
  readonly signing: SigningSecrets | undefined;
  /** The url that what is not refused is sent on to. */
  readonly target: string | undefined;
  readonly onArrival: (arrival: Arrival) => void;
}

/** Receives deliveries at every path, on this machine only. @throws CliError `PORT_UNAVAILABLE` */
export function startServer({ port, signing, target, onArrival }: ServerOptions) {
  const receive: RequestListener = async (request, response) => {
    const at = new Date();
    const headers = pairsOf(request.rawHeaders);
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return response.destroy();
    const refusal = whyRefused(request, { headers, body }, signing);
    const isRefused = refusal !== undefined;
    const verdict = refusal ?? (signing === undefined ? "not checked" : "verified");
    const isMismatch = verdict === "signature-mismatch";
    const tried = isMismatch ? (signing?.secrets ?? []).map((each) => fingerprintOf([each])) : [];
    const { event = null, jobId = null } = readEvent(body);
    const id = request.headers["webhook-id"]?.toString() ?? null;
    const [path = ""] = (request.url ?? "").split("?", 1);
    const isForwarded = !isRefused && target !== undefined;
    const forwarded = isForwarded ? await forward({ headers, body }, target) : undefined;
    const { status, ...reply } = responseTo(refusal, forwarded);
    const summary = { path, id, event, jobId, bytes: body.length, verdict, tried, isRefused, status };
    onArrival({ at, headers, body, summary, forwarded, isReplay: false });
    response.writeHead(status, reply.headers).end(reply.body);
    dropBody(request);
  };
  return listen("127.0.0.1", port, receive, CliError);
}

/** Returns why a request is refused, undefined if it is not. */
function whyRefused(
  { method }: IncomingMessage,
  { headers, body }: Capture,
  signing: SigningSecrets | undefined,
): string | undefined {
  const refusal = reasonToRefuse(method, body.byteLength, LARGEST_BODY);
  if (refusal !== undefined) return refusal;
  if (signing === undefined) return undefined;
  const result = verifyDetailed(body, headers, signing.secrets, signing.toleranceSeconds);
  return result.ok ? undefined : result.reason;
}

/** Returns what the sender gets: the response of the url of `--forward-to`, if it was forwarded. */
function responseTo(refusal: string | undefined, forwarded: DeliveryResponse | undefined) {
  // A forger must learn nothing from the reason.
  if (refusal !== undefined) {
    const { status, headers } =
      refusal === "method" || refusal === "size" ? REFUSALS[refusal] : REFUSALS.unverified;
    return { status, headers, body: "refused: the terminal of listen says why\n" };
  }
  if (forwarded === undefined) return { status: 200 };
  const { status, headers, body, failure } = forwarded;
  // A sender that got a part of the response would take the delivery for done. After 502, it retries.
  if (status === null || failure !== null)
    return { status: 502, body: "the receiver of --forward-to did not respond\n" };
  const returned = Object.entries(headers).filter(([name]) => RETURNED_HEADERS.includes(name));
  return { status, headers: Object.fromEntries(returned), body };
}

function pairsOf(raw: readonly string[]): HeaderPair[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as const] : []));
}
