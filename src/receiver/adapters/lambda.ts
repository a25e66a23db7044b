import type { LazyReceiver, Receiver } from "../types";
import { responder } from "./responder";

/** The parts of an event that are used: of API Gateway's REST (v1) and HTTP (v2) APIs, function URLs, and load balancers. */
export interface LambdaHttpEvent {
  /** The method, in events of version 1 and of load balancers. */
  readonly httpMethod?: string | undefined;
  /** Where the request comes from. In events of version 2, `http.method` is the method. */
  readonly requestContext?: object | undefined;
  /** The headers, each with one value. */
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  /** The headers, each with all its values. */
  readonly multiValueHeaders?: Readonly<Record<string, string[] | undefined>> | null | undefined;
  /** The body: a string, or base64 if `isBase64Encoded` is true. */
  readonly body?: string | null | undefined;
  /** True if the body is base64. */
  readonly isBase64Encoded?: boolean | undefined;
}

/** What the function returns: the receiver's response. */
export interface LambdaHttpResult {
  /** The HTTP status. */
  statusCode: number;
  /** The headers of the response. */
  headers?: Record<string, string>;
  /** The headers for a load balancer that is set to several values. */
  multiValueHeaders?: Record<string, string[]>;
  /** The body of the response. */
  body: string;
  /** Always false. */
  isBase64Encoded: false;
}

const REMEDY =
  "Pass the event on unchanged: before any middleware that parses bodies, and without a mapping template.";

/**
 * Makes a receiver the handler of an AWS Lambda function behind API Gateway (REST and HTTP APIs), a function URL or an
 * application load balancer.
 *
 * ```ts
 * export const handler = lambdaHandler(receiver);
 * ```
 *
 * Each execution environment has a memory of its own, so give the receiver a shared dedupe store, such as `redisDedupe`. It rejects
 * only events that are not requests, such as those of a queue.
 *
 * @throws TypeError for anything but a receiver or a function that creates one
 */
export function lambdaHandler(
  receiver: Receiver | LazyReceiver,
): (event: LambdaHttpEvent) => Promise<LambdaHttpResult> {
  const respond = responder("lambdaHandler", receiver, REMEDY, (event: LambdaHttpEvent) => ({
    method: methodOf(event),
    // A header that was sent twice has both values in the first.
    headers: event.multiValueHeaders ?? event.headers ?? {},
    // It has arrived, whatever its size.
    bytes: Number.NaN,
    read() {
      const text: unknown = event.body ?? "";
      if (typeof text !== "string") return "parsed-body";
      return Buffer.from(text, event.isBase64Encoded ? "base64" : "utf8");
    },
  }));
  return async (event) => {
    // Any result would make SQS delete its messages, Kafka go on, and EventBridge take the event for handled.
    if (methodOf(event) === undefined)
      throw new TypeError(
        "lambdaHandler did not get the event of a request, as a function URL, a load balancer and API Gateway (Lambda proxy integration) " +
          "send it. For the messages of SQS, use sqsHandler(queueWorker({ handlers })).",
      );
    const { status, headers, body } = await respond(event);
    const result = { statusCode: status, body, isBase64Encoded: false } as const;
    if (!event.multiValueHeaders) return { ...result, headers: { ...headers } };
    // A load balancer that sends multi-value headers requires them; the others accept or ignore them.
    const multiple = Object.entries(headers).map(([name, value]) => [name, [value]]);
    return { ...result, multiValueHeaders: Object.fromEntries(multiple) };
  };
}

function methodOf(event: LambdaHttpEvent): string | undefined {
  const { http }: { http?: { method?: string } } = event?.requestContext ?? {};
  return http?.method ?? event?.httpMethod;
}
