import type { Dispatcher } from "undici";
import type { Clock } from "./clock";
import type { ResponseHeaders } from "./responseHeaders";

export interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  readonly request: Pick<Dispatcher.DispatchOptions, "origin" | "path" | "method" | "headers" | "body">;
  /** For connecting, sending, and reading the whole answer. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** What came of one request and its answer, if any: never a rejection, so that nothing known is lost. */
export interface Exchanged {
  /** Whether any of it may have reached the service. False is certain. */
  readonly sent: boolean;
  /** There as soon as the head of an answer is; its body is what had come by the end. */
  readonly answer?: Answer;
  /** Why it ended before the whole answer was there. */
  readonly failure?: Failure;
}

export interface Answer {
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer;
}

export interface Failure {
  readonly reason: "connection" | "timeout" | "too-large" | "aborted";
  readonly cause?: unknown;
}

/**
 * Sends one request, once. undici says so before it writes the first byte (`onRequestStart`), which tells a request that
 * surely was not made from one that may have been; and what is given up before then is never written.
 */
export function exchange(options: ExchangeOptions): Promise<Exchanged> {
  const { dispatcher, request, timeoutMs, maxResponseBytes, signal, clock } = options;
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let head: Omit<Answer, "body"> | undefined;
    const chunks: Buffer[] = [];
    let size = 0;
    let sent = false;
    let over = false;

    const end = (failure?: Failure) => {
      if (over) return;
      over = true;
      cancelTimeout();
      signal?.removeEventListener("abort", abort);
      resolve({
        sent,
        ...(head && { answer: { ...head, body: Buffer.concat(chunks) } }),
        ...(failure && { failure }),
      });
    };
    const giveUp = (failure: Failure) => {
      end(failure);
      controller?.abort(new Error(`given up: ${failure.reason}`));
    };
    const abort = () => giveUp({ reason: "aborted", cause: signal?.reason });
    const cancelTimeout = clock.after(timeoutMs, () => giveUp({ reason: "timeout" }));

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (over) started.abort(new Error("given up before it was sent"));
        else sent = true;
      },
      onResponseStart(_, statusCode, headers) {
        // Informational answers (1xx) come before the one that counts.
        if (statusCode < 200) return;
        head = { statusCode, headers };
        if (Number(headers["content-length"]) > maxResponseBytes) giveUp({ reason: "too-large" });
      },
      onResponseData(_, chunk) {
        if (over) return;
        size += chunk.length;
        if (size > maxResponseBytes) giveUp({ reason: "too-large" });
        else chunks.push(chunk);
      },
      onResponseEnd: () => end(),
      onResponseError: (_, error) => end({ reason: "connection", cause: withoutData(error) }),
    };

    if (signal?.aborted) {
      abort();
      return;
    }
    signal?.addEventListener("abort", abort, { once: true });
    try {
      dispatcher.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, handler);
    } catch (cause) {
      end({ reason: "connection", cause });
    }
  });
}

/** undici's parser leaves the bytes that it could not read on its error, where a logger would print them. */
function withoutData(error: Error): Error {
  Reflect.deleteProperty(error, "data");
  return error;
}
