import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest, Agent as SecureAgent } from "node:https";

/** How much of an answer's body is read before the connection is closed, and how much of it, and of each header, is kept. */
const MAX_ANSWER_BYTES = 64 * 1024;
const KEPT_ANSWER_BYTES = 1024;

interface Post {
  readonly url: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  /** Starts when a connection is assigned. The wait for a free connection does not count. */
  readonly timeoutMs: number;
}

/** `error` is a Node.js error code, set when there was no answer. */
export interface PostResult {
  readonly statusCode: number | null;
  readonly retryAfter?: string | undefined;
  readonly error: string | null;
  /** The beginning of the answer's body. Null when there was no answer. */
  readonly answer: string | null;
  readonly answerHeaders: Readonly<Record<string, string>> | null;
  readonly durationMs: number;
}

/**
 * Sends deliveries, at most 64 at once to a host. Each uses its own connection, because an idle connection that the
 * receiver has closed would look like a failed delivery. Redirects are not followed.
 */
export class Poster {
  readonly #agents = {
    "http:": new Agent({ maxSockets: 64 }),
    "https:": new SecureAgent({ maxSockets: 64 }),
  };

  /** @param closed Aborts the requests in progress. */
  constructor(private readonly closed: AbortSignal) {}

  post({ url, headers, body, timeoutMs }: Post): Promise<PostResult> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let begun = performance.now();
      const durationMs = () => Math.round(performance.now() - begun);
      const fail = (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        const reason = error.code ?? error.name;
        resolve({
          statusCode: null,
          error: reason,
          answer: null,
          answerHeaders: null,
          durationMs: durationMs(),
        });
      };
      try {
        const secure = new URL(url).protocol === "https:";
        const request = (secure ? httpsRequest : httpRequest)(url, {
          method: "POST",
          agent: this.#agents[secure ? "https:" : "http:"],
          headers: { ...headers, "content-length": Buffer.byteLength(body) },
          signal: this.closed,
        });
        request.on("error", fail);
        request.on("socket", () => {
          begun = performance.now();
          timer = setTimeout(() => request.destroy(timedOut()), timeoutMs);
        });
        request.on("response", (response) => {
          // From here on there is an answer, whatever happens to its body.
          request.off("error", fail).on("error", () => undefined);
          readAnswer(response, (answer) => {
            clearTimeout(timer);
            const { statusCode = 0, headers } = response;
            const answerHeaders = Object.fromEntries(
              Object.entries(headers).map(([name, value]) => [
                name,
                [value].flat().join(", ").slice(0, KEPT_ANSWER_BYTES),
              ]),
            );
            const retryAfter = headers["retry-after"];
            resolve({ statusCode, retryAfter, error: null, answer, answerHeaders, durationMs: durationMs() });
          });
        });
        request.end(body);
      } catch (error) {
        fail(error as NodeJS.ErrnoException);
      }
    });
  }
}

/** Passes on the beginning of the body when the body has ended, is too long, or takes too long. */
function readAnswer(response: IncomingMessage, done: (answer: string) => void): void {
  const kept: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    if (bytes < KEPT_ANSWER_BYTES) kept.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
  response.on("error", () => undefined);
  response.on("close", () => done(Buffer.concat(kept).subarray(0, KEPT_ANSWER_BYTES).toString("utf8")));
}

function timedOut(): Error {
  return Object.assign(new Error("The receiver took too long."), { code: "ETIMEDOUT" });
}
