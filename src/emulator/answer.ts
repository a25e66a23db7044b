import type { OutgoingHttpHeaders } from "node:http";

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
