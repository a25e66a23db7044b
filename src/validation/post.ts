import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from "undici";
import { isUrl } from "../shared/isUrl";
import { isLoopback } from "../shared/url";
import type { ValidationDelivery } from "./delivery";

/** What came back: a status, or why there is none. */
export interface Answer {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** Where a redirect points to, absolute. */
  readonly location?: string;
  /** The system's or TLS's code, such as `ENOTFOUND`, when there was no answer. */
  readonly failure?: string;
}

export interface PostOptions {
  readonly url: string;
  readonly dispatcher: Dispatcher;
  /** For this delivery, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Opens the way to a receiver: through the proxy that the environment names, or directly to this machine. */
export function openDispatcher(url: string): Dispatcher {
  return isLoopback(new URL(url).hostname) ? new Agent() : new EnvHttpProxyAgent();
}

/** Sends a delivery on a connection of its own and reads the status. Redirects are not followed. Never rejects. */
export async function post(
  { headers, body }: ValidationDelivery,
  { url, dispatcher, timeoutMs, signal }: PostOptions,
): Promise<Answer> {
  // It takes whole milliseconds only.
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  try {
    const answer = await request(url, {
      method: "POST",
      headers,
      body,
      dispatcher,
      // A connection that is kept would hide a new release behind the old one.
      reset: true,
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    });
    answer.body.on("error", () => {}).destroy();
    const location = answer.headers.location;
    const isTarget = typeof location === "string" && isUrl(location, url);
    return {
      status: answer.statusCode,
      ...(isTarget ? { location: new URL(location, url).href } : {}),
    };
  } catch (error) {
    return { status: null, failure: failureName(error) };
  }
}

/** The code of a failure. Not its message, which may repeat the url. */
export function failureName(error: unknown): string {
  const { code, name, errors } = error as Partial<NodeJS.ErrnoException & AggregateError>;
  if (name === "TimeoutError") return "timed out";
  // Node tries each address of a name, and reports the failures of all.
  return code ?? (errors?.[0] === undefined ? (name ?? "no reason given") : failureName(errors[0]));
}
