import type { Dispatcher } from "undici";
import { name, version } from "../../package.json";
import type { WebhookErrorCode } from "./errors";
import type { Gate } from "./gate";
import type { Operation } from "./operation";
import type { ClientEnvironment, ResolvedOptions } from "./options";
import type { HttpResponse } from "./response";

const USER_AGENT = `${name}/${version} node/${process.versions.node}`;

/** What one request led to. Attempts never reject, so that no knowledge is lost. */
export type Attempt = {
  /** True if any part of the request may have reached the service. False is certain. */
  readonly sent: boolean;
} & (
  | { readonly response: HttpResponse; readonly failure?: Failure }
  | { readonly response?: undefined; readonly failure: Failure }
);

/** Why an attempt ended without a whole response. */
export interface Failure {
  readonly code: WebhookErrorCode;
  readonly cause?: unknown;
}

/** What the operations of one client share. */
export interface ClientContext extends Required<ClientEnvironment> {
  readonly options: ResolvedOptions;
  readonly dispatcher: Dispatcher;
  readonly gate: Gate;
}

/** Returns a new object for each attempt, because undici's proxy agent adds to the headers. */
function requestOf({ method, url, body }: Operation<unknown>, options: ResolvedOptions) {
  const { origin, pathname: path } = new URL(url);
  const headers = {
    [options.apiKeyHeader]: options.apiKeyValue,
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": USER_AGENT,
    ...(body !== undefined && { "content-type": "application/json" }),
  };
  return { origin, path, method, headers, body: body ?? null };
}

/**
 * Sends an operation's request once.
 *
 * undici calls `onRequestStart` before it writes the first byte. A request that has not started was certainly not made,
 * and one that was given up before it starts is never written. The timeout holds for connecting, sending, and the whole response.
 */
export function exchange(
  operation: Operation<unknown>,
  { dispatcher, clock, options, cancelled }: ClientContext,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
): Promise<Attempt> {
  const { maxResponseBytes } = options;
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let head: Omit<HttpResponse, "body"> | undefined;
    const chunks: Buffer[] = [];
    let size = 0;
    let sent = false;
    let over = false;

    const end = (failure?: Failure) => {
      if (over) return;
      over = true;
      cancelTimeout();
      signal?.removeEventListener("abort", abort);
      if (head) {
        resolve({ sent, response: { ...head, body: Buffer.concat(chunks) }, ...(failure && { failure }) });
      } else {
        resolve({ sent, failure: failure ?? { code: "CONNECTION_LOST" } });
      }
    };
    const disconnect = (cause: unknown) => end({ code: sent ? "CONNECTION_LOST" : "UNREACHABLE", cause });
    const giveUp = (failure: Failure) => {
      end(failure);
      controller?.abort(new Error(`given up: ${failure.code}`));
    };
    const abort = () => giveUp({ code: "ABORTED", cause: signal?.reason });
    const cancelTimeout = clock.after(timeoutMs, () => giveUp({ code: "TIMED_OUT" }));

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (cancelled?.aborted) end({ code: "ABORTED", cause: cancelled.reason });
        if (over) started.abort(new Error("given up before it was sent"));
        else sent = true;
      },
      onResponseStart(_, status, headers) {
        // Informational responses (1xx) precede the final one.
        if (status < 200) return;
        head = { status, headers };
        if (Number(headers["content-length"]) > maxResponseBytes) giveUp({ code: "RESPONSE_TOO_LARGE" });
      },
      onResponseData(_, chunk) {
        if (over) return;
        size += chunk.length;
        if (size > maxResponseBytes) giveUp({ code: "RESPONSE_TOO_LARGE" });
        else chunks.push(chunk);
      },
      onResponseEnd: () => end(),
      onResponseError: (_, error) => disconnect(withoutData(error)),
    };

    if (signal?.aborted) {
      abort();
      return;
    }
    signal?.addEventListener("abort", abort, { once: true });
    try {
      dispatcher.dispatch({ ...requestOf(operation, options), headersTimeout: 0, bodyTimeout: 0 }, handler);
    } catch (cause) {
      disconnect(cause);
    }
  });
}

/** undici's parser attaches the bytes it could not read to its error, where a logger would print them. */
function withoutData(error: Error): Error {
  Reflect.deleteProperty(error, "data");
  return error;
}
