import type { OutgoingHttpHeaders } from "node:http";

/** What the service answers. No `body` is an empty one; anything else goes as JSON. */
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
