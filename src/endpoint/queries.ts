import * as pulumi from "@pulumi/pulumi";
import { WebhooksClient } from "../client/client";
import type { Endpoint } from "../client/endpoint";
import { CodedError } from "../error";
import { unknownOptions } from "../knownOptions";
import { isSecretUrl } from "./secretUrls";
import { resolveSettings } from "./settings";
import { describeAnswer, HOW_TO_SEE_ANSWER, hasAnswer } from "./shownAnswer";
import type { EndpointType } from "./types";
import { sameUrl } from "./url";
import { stackSettings, type WebhooksProvider } from "./webhooksProvider";

export interface QueryOptions {
  /** The account to ask. Default: that of the stack's configuration or of the environment. */
  provider?: WebhooksProvider;
}

export interface GetWebhookEndpointArgs {
  id: pulumi.Input<string>;
}

export interface GetWebhookEndpointsArgs {
  /** Only endpoints with this url, in any spelling. Default: all. */
  url?: pulumi.Input<string>;
  /** Only endpoints of this type. Default: both. */
  type?: pulumi.Input<EndpointType>;
}

/**
 * Returns an endpoint that is managed elsewhere, as the service describes it now. It asks in previews too. A missing endpoint
 * fails the program. To have the endpoint in the stack's state, use `WebhookEndpoint.get`.
 */
export function getWebhookEndpoint(
  args: GetWebhookEndpointArgs,
  opts: QueryOptions = {},
): pulumi.Output<Endpoint> {
  requireKnown("getWebhookEndpoint", { args, names: ["id"], opts });
  return ask(opts, args, ({ id }, client) => client.get(id));
}

/** Returns the endpoints of the account, as the service lists them now. It asks in previews too. */
export function getWebhookEndpoints(
  args: GetWebhookEndpointsArgs = {},
  opts: QueryOptions = {},
): pulumi.Output<Endpoint[]> {
  requireKnown("getWebhookEndpoints", { args, names: ["url", "type"], opts });
  return ask(opts, args, async ({ url, type }, client) => {
    const { endpoints, complete, unrecognized } = await client.list();
    const left = unrecognized.length;
    if (!complete)
      await pulumi.log.warn("getWebhookEndpoints: the service lists only a part of its endpoints.");
    if (left > 0)
      await pulumi.log.warn(`getWebhookEndpoints: ${left} endpoints of an unknown type are left out.`);
    return endpoints.filter(
      (endpoint) =>
        (url === undefined || sameUrl(endpoint.url, url)) && (type === undefined || endpoint.type === type),
    );
  });
}

/** @throws RunError when plain JavaScript passes something that the function does not take */
function requireKnown(
  what: string,
  { args, names, opts }: { args: unknown; names: readonly string[]; opts: QueryOptions },
): void {
  const problems = [
    ...unknownOptions(args, names, `an argument of ${what}`),
    ...unknownOptions(opts, ["provider"], `an option of ${what}`),
  ];
  if (problems.length > 0) throw new pulumi.RunError(`${what}: ${problems.join("; ")}`);
}

/**
 * Asks the service once all arguments are known. The answer is secret if an argument is, or if it holds a url that the program
 * declared as a secret.
 */
function ask<Args, Answer extends Endpoint | Endpoint[]>(
  { provider }: QueryOptions,
  args: Args,
  question: (args: pulumi.Unwrap<Args>, client: WebhooksClient) => Promise<Answer>,
): pulumi.Output<Answer> {
  const settings = pulumi.unsecret(pulumi.output(provider?.programSettings ?? stackSettings()));
  const answer = pulumi.all([args, settings]).apply(async ([known, values]) => {
    const resolved = resolveSettings((key) => values[key], process.env);
    if ("problems" in resolved) throw failure(`${resolved.problems.join("; ")} (SETTINGS_INVALID)`);
    const { timeoutSeconds, ...connection } = resolved.settings;
    try {
      const client = new WebhooksClient({ ...connection, timeoutMs: timeoutSeconds * 1000 });
      const found = await question(known as pulumi.Unwrap<Args>, client).finally(() => client.close());
      return [found].flat().some(({ url }) => isSecretUrl(url)) ? pulumi.secret(found) : found;
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      if (!hasAnswer(error)) throw failure(error.message);
      if (resolved.showResponses) await pulumi.log.warn(describeAnswer(error, connection.apiKey));
      throw failure(`${error.reason} ${HOW_TO_SEE_ANSWER} (${error.code})`);
    }
  });
  return answer as pulumi.Output<Answer>;
}

/** Returns an error that ends the program with its message alone: one thrown this late is printed with its stack. */
function failure(message: string): pulumi.RunError {
  return Object.assign(new pulumi.RunError(message), { stack: "" });
}
