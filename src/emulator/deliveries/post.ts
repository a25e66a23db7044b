import { Agent } from "undici";
import { type DeliveryRequest, postDelivery } from "../../shared/post";
import { describeUrl } from "../../shared/url";
import type { LoggedAttempt } from "./event";

/** How much of an answer's body, in bytes, and of each of its headers, in characters, is kept. */
const KEPT_ANSWER_LENGTH = 1024;
const MOST_AT_ONCE = 64;
/** The codes of Node.js for failures that have names of their own in undici and `postDelivery`. */
const NODE_CODES: Readonly<Record<string, string>> = {
  "timed out": "ETIMEDOUT",
  UND_ERR_CONNECT_TIMEOUT: "ETIMEDOUT",
  UND_ERR_SOCKET: "ECONNRESET",
  AbortError: "ABORT_ERR",
};

export type PostResult = Pick<
  LoggedAttempt,
  "statusCode" | "error" | "answer" | "answerHeaders" | "durationMs"
> & { readonly retryAfter?: string | undefined };

interface PosterOptions {
  /** Starts when a delivery is sent. The wait for its turn does not count. */
  readonly timeoutMs: number;
  /** Ends the deliveries under way. */
  readonly signal: AbortSignal;
}

/** The deliveries to one host. */
interface Line {
  free: number;
  readonly waiting: (() => void)[];
}

/** Sends deliveries, at most 64 at once to a host. */
export class Poster {
  readonly #lines = new Map<string, Line>();
  readonly #dispatcher: Agent;

  constructor(private readonly options: PosterOptions) {
    const { timeoutMs, signal } = options;
    const connect = { timeout: timeoutMs, signal };
    this.#dispatcher = new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 });
  }

  async post(request: Pick<DeliveryRequest, "url" | "headers" | "body">): Promise<PostResult> {
    const endTurn = await this.#turnAt(describeUrl(request.url));
    const sent = await postDelivery({ ...request, ...this.options, dispatcher: this.#dispatcher });
    endTurn();
    const { status: statusCode, durationMs } = sent;
    if (sent.status === null) {
      const error = NODE_CODES[sent.failure] ?? sent.failure;
      return { statusCode, error, answer: null, answerHeaders: null, durationMs };
    }
    const headers = Object.entries(sent.headers).map(([name, value = ""]) => [name, [value].flat()] as const);
    return {
      statusCode,
      retryAfter: [sent.headers["retry-after"]].flat()[0],
      error: null,
      answer: sent.body.subarray(0, KEPT_ANSWER_LENGTH).toString("utf8"),
      answerHeaders: Object.fromEntries(
        headers.map(([name, values]) => [name, values.join(", ").slice(0, KEPT_ANSWER_LENGTH)]),
      ),
      durationMs,
    };
  }

  /** Waits until a delivery to a host may be sent. Returns how to let the next one go. */
  async #turnAt(host: string): Promise<() => void> {
    const line = this.#lines.get(host) ?? { free: MOST_AT_ONCE, waiting: [] };
    this.#lines.set(host, line);
    if (line.free > 0) line.free -= 1;
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    return () => {
      const next = line.waiting.shift();
      if (next === undefined) line.free += 1;
      else next();
    };
  }
}
