import type { WebhooksClient } from "../client/client";
import type { Endpoint, EndpointType } from "../client/endpoint";
import { WebhookError } from "../client/errors";
import { ARGUMENTS } from "../provider/arguments";
import { EndpointError } from "../provider/errors";
import { type Configuration, resolveSettings } from "../provider/settings";
import { withClient } from "../provider/withClient";
import { sameUrl } from "../shared/url";
import { countOf } from "../shared/words";

/** Which endpoints to look up. Default: all. */
interface EndpointFilter {
  readonly url?: string | undefined;
  readonly type?: EndpointType | undefined;
}

/** Where to ask, and whom to warn. */
export interface LookupOptions {
  readonly configuration: Configuration;
  readonly environment: NodeJS.ProcessEnv;
  readonly warn: (message: string) => unknown;
  /** Ends the look-up at once. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns one endpoint, as the service describes it now. @throws WebhookError, EndpointError */
export function lookUpEndpoint(id: string, options: LookupOptions): Promise<Endpoint> {
  return lookUp(options, (client) => client.get(id, options));
}

/** Returns the endpoints of the account that fit, as the service lists them now. @throws WebhookError, EndpointError */
export async function lookUpEndpoints(
  { url, type }: EndpointFilter,
  options: LookupOptions,
): Promise<Endpoint[]> {
  const problems = [
    ...(url === undefined || typeof url === "string" ? [] : ["url must be a string"]),
    ...(type === undefined ? [] : ARGUMENTS.type.problems(type)),
  ];
  if (problems.length > 0)
    throw new WebhookError(`getWebhookEndpoints: ${problems.join("; ")}. Nothing was sent`, {
      code: "INVALID_ARGUMENT",
    });
  return lookUp(options, async (client) => {
    const { endpoints, complete, unrecognized } = await client.list(options);
    const left = unrecognized.length;
    if (!complete) await options.warn("getWebhookEndpoints: the service lists only a part of its endpoints.");
    if (left > 0)
      await options.warn(`getWebhookEndpoints: left out ${countOf(left, "endpoint")} that cannot be read.`);
    return endpoints.filter(
      (endpoint) =>
        (url === undefined || sameUrl(endpoint.url, url)) && (type === undefined || endpoint.type === type),
    );
  });
}

function lookUp<T>(options: LookupOptions, ask: (client: WebhooksClient) => Promise<T>): Promise<T> {
  const resolved = resolveSettings(options.configuration, options.environment);
  if ("problems" in resolved) throw new EndpointError("SETTINGS_INVALID", resolved.problems.join("; "));
  return withClient(resolved, options.warn, ask);
}
