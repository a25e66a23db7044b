import type { HeadersLike } from "../../signature/headers";
import type { Receiver, ReceiverResponse } from "../types";

/** What of an event is used: API Gateway's REST (v1) and HTTP (v2) APIs, function URLs, application load balancers. */
export interface LambdaHttpEvent {
  readonly httpMethod?: string | undefined;
  readonly requestContext?: LambdaRequestContext | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  readonly multiValueHeaders?: Readonly<Record<string, string[] | undefined>> | null | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
}

/** One property of each kind of event, which is what TypeScript tells them by. */
export interface LambdaRequestContext {
  readonly http?: { readonly method?: string | undefined } | undefined;
  readonly httpMethod?: string | undefined;
  readonly elb?: unknown;
}

export interface LambdaHttpResult {
  statusCode: number;
  headers?: Record<string, string>;
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: false;
}

const ADVICE =
  "lambdaHandler: the event's body was parsed before its signature could be verified, and a signature covers the bytes as " +
  "sent. Give it the event as it came: before any middleware that parses bodies, and without a mapping template.";

/**
 * A receiver as the handler of an AWS Lambda function behind API Gateway (REST and HTTP APIs), a function URL or an
 * application load balancer.
 *
 * ```ts
 * export const handler = lambdaHandler(receiver);
 * ```
 *
 * One execution environment handles one event at a time and may be frozen between two, so give the receiver a dedupe store
 * that all of them share, such as `redisDedupe`. It never rejects.
 */
export function lambdaHandler(receiver: Receiver): (event: LambdaHttpEvent) => Promise<LambdaHttpResult> {
  // Whoever invokes the function by hand may give it nothing.
  return async (given) => {
    const event = given ?? {};
    return result(await answer(event), event);
  };

  async function answer(event: LambdaHttpEvent): Promise<ReceiverResponse> {
    const method = event.requestContext?.http?.method ?? event.httpMethod ?? "";
    if (method !== "POST") return receiver.refuse("method");
    const text: unknown = event.body ?? "";
    if (typeof text !== "string") return receiver.refuse("parsed-body", ADVICE);
    // Four characters of base64 are three bytes, and a character of a text is one byte at least.
    const atLeast = event.isBase64Encoded ? (text.length * 3) / 4 - 2 : text.length;
    if (atLeast > receiver.maxBodyBytes) return receiver.refuse("size");
    const body = Buffer.from(text, event.isBase64Encoded ? "base64" : "utf8");
    return receiver.handle({ method, headers: headersOf(event), body });
  }
}

/** With a value for each time that a header was sent, where the event tells. */
function headersOf({ headers, multiValueHeaders }: LambdaHttpEvent): HeadersLike {
  return multiValueHeaders ?? headers ?? {};
}

/** A load balancer that gives headers of several values takes no others; the rest take these as well, or never give them. */
function result({ status, headers, body }: ReceiverResponse, event: LambdaHttpEvent): LambdaHttpResult {
  const rest = { statusCode: status, body, isBase64Encoded: false } as const;
  if (!event.multiValueHeaders) return { ...rest, headers: { ...headers } };
  const multiValueHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value]]),
  );
  return { ...rest, multiValueHeaders };
}
