import type {
  ALBEvent,
  ALBHandler,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  LambdaFunctionURLEvent,
  LambdaFunctionURLHandler,
} from "aws-lambda";

export interface SentRequest {
  readonly method: string;
  /** As they were sent: a name may occur twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null if there is none. */
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
}

/** A handler by AWS's own types, for every platform. */
export type AwsHandler = APIGatewayProxyHandler &
  APIGatewayProxyHandlerV2 &
  LambdaFunctionURLHandler &
  ALBHandler;

type RestContext = Pick<APIGatewayProxyEvent["requestContext"], "httpMethod" | "path" | "protocol" | "stage">;

/** The event that a function gets for a request, as AWS documents it for each platform in front of it. */
export const lambdaEvents = {
  "API Gateway, REST (1.0)": ({ method, headers, body, isBase64Encoded }: SentRequest) => {
    const event: Omit<APIGatewayProxyEvent, "requestContext"> & { requestContext: RestContext } = {
      resource: "/jobs",
      path: "/jobs",
      httpMethod: method,
      headers: lastOf(headers),
      multiValueHeaders: allOf(headers),
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      stageVariables: null,
      requestContext: { httpMethod: method, path: "/prod/jobs", protocol: "HTTP/1.1", stage: "prod" },
      body,
      isBase64Encoded,
    };
    return event;
  },

  "API Gateway, HTTP (2.0)": (request: SentRequest): APIGatewayProxyEventV2 => version2(request),

  "function URL": (request: SentRequest): LambdaFunctionURLEvent => version2(request),

  "load balancer": ({ method, headers, body, isBase64Encoded }: SentRequest): ALBEvent => ({
    requestContext: {
      elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/jobs/1" },
    },
    httpMethod: method,
    path: "/jobs",
    queryStringParameters: {},
    headers: lastOf(lowerCased(headers)),
    // Empty, not null.
    body: body ?? "",
    isBase64Encoded,
  }),

  "load balancer, multi-value headers": ({
    method,
    headers,
    body,
    isBase64Encoded,
  }: SentRequest): ALBEvent => ({
    requestContext: {
      elb: { targetGroupArn: "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/jobs/1" },
    },
    httpMethod: method,
    path: "/jobs",
    multiValueQueryStringParameters: {},
    multiValueHeaders: allOf(lowerCased(headers)),
    body: body ?? "",
    isBase64Encoded,
  }),
} as const;

/** Names are in lower case, the values of a repeated header are joined with a comma, and `body` is omitted if there is none. */
function version2({ method, headers, body, isBase64Encoded }: SentRequest): APIGatewayProxyEventV2 {
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: "/jobs",
    rawQueryString: "",
    headers: Object.fromEntries(
      Object.entries(allOf(lowerCased(headers))).map(([name, values]) => [name, values.join(",")]),
    ),
    requestContext: {
      accountId: "anonymous",
      apiId: "a1",
      domainName: "a1.lambda-url.eu-central-1.on.aws",
      domainPrefix: "a1",
      http: { method, path: "/jobs", protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "webhooks/1.0" },
      requestId: "r1",
      routeKey: "$default",
      stage: "$default",
      time: "12/Mar/2026:19:03:58 +0000",
      timeEpoch: 1_773_342_238_000,
    },
    ...(body === null ? {} : { body }),
    isBase64Encoded,
  };
}

function lowerCased(headers: SentRequest["headers"]): SentRequest["headers"] {
  return headers.map(([name, value]) => [name.toLowerCase(), value]);
}

function lastOf(headers: SentRequest["headers"]): Record<string, string> {
  return Object.fromEntries(headers);
}

function allOf(headers: SentRequest["headers"]): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const [name, value] of headers) all[name] = [...(all[name] ?? []), value];
  return all;
}
