import type { Call } from "./call";
import type { ExchangeOptions } from "./exchange";
import type { ResolvedOptions } from "./options";

const { name, version }: { name: string; version: string } = require("../../package.json");

/** Who asks, honestly: `pulumi-webhook-endpoints/0.1.0 node/20.18.1`. */
const userAgent = `${name}/${version} node/${process.versions.node}`;

/** What goes out for a call. A new object for each attempt: undici's proxy agent adds to the headers. */
export function requestOf(call: Call<unknown>, options: ResolvedOptions): ExchangeOptions["request"] {
  const { baseUrl, apiKeyHeader, apiKeyValue } = options;
  return {
    origin: baseUrl.origin,
    path: `${baseUrl.pathname.replace(/\/$/, "")}${call.path}`,
    method: call.method,
    headers: {
      [apiKeyHeader]: apiKeyValue,
      accept: "application/json",
      "user-agent": userAgent,
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
    },
    body: call.body ?? null,
  };
}
