import * as pulumi from "@pulumi/pulumi";
import { WebhooksClient } from "../client/client";
import type { Endpoint } from "../client/endpoint";
import { type Configuration, resolveSettings } from "./settings";
import type { EndpointType } from "./types";
import { sameUrl } from "./url";
import type { WebhooksProvider } from "./webhooksProvider";
import { stackSettings } from "./webhooksProvider";

export interface QueryOptions {
  /** The account to ask. Default: the one of the stack's configuration or of the environment. */
  provider?: WebhooksProvider;
}

export interface GetWebhookEndpointArgs {
  id: pulumi.Input<string>;
}

export interface GetWebhookEndpointsArgs {
  /** Only those with this url, however it is spelled. Default: any. */
  url?: pulumi.Input<string>;
  /** Only those of this type. Default: both. */
  type?: pulumi.Input<EndpointType>;
}

/**
 * An endpoint that is managed elsewhere, as the service describes it now. It is asked in previews too. A missing one
 * fails the program; to have it in the stack's state, use `WebhookEndpoint.get`.
 */
export function getWebhookEndpoint(
  args: GetWebhookEndpointArgs,
  opts: QueryOptions = {},
): pulumi.Output<Endpoint> {
  return ask(opts, args, ({ id }, client) => client.get(id));
}

/** The endpoints of the account, as the service lists them now. It is asked in previews too. */
export function getWebhookEndpoints(
  args: GetWebhookEndpointsArgs = {},
  opts: QueryOptions = {},
): pulumi.Output<Endpoint[]> {
  return ask(opts, args, async ({ url, type }, client) => {
    const list = await client.list();
    if (!list.complete)
      await pulumi.log.warn("getWebhookEndpoints: the service lists only a part of its endpoints.");
    return list.endpoints.filter(
      (endpoint) =>
        (url === undefined || sameUrl(endpoint.url, url)) && (type === undefined || endpoint.type === type),
    );
  });
}

/** Runs a question once all that it depends on is known. The answer is secret where the arguments are. */
function ask<Args, Answer>(
  { provider }: QueryOptions,
  args: Args,
  question: (args: pulumi.Unwrap<Args>, client: WebhooksClient) => Promise<Answer>,
): pulumi.Output<Answer> {
  const settings = pulumi.unsecret(pulumi.output(provider?.programSettings ?? stackSettings()));
  const answer = pulumi.all([args, settings]).apply(async ([known, values]) => {
    const configuration: Configuration = (key) => values[key];
    const resolved = resolveSettings(configuration, process.env);
    if ("problems" in resolved) throw failure(`${resolved.problems.join("; ")} (SETTINGS_INVALID)`);
    const { timeoutSeconds, ...rest } = resolved.settings;
    try {
      const client = new WebhooksClient({ ...rest, timeoutMs: timeoutSeconds * 1000 });
      return await question(known as pulumi.Unwrap<Args>, client).finally(() => client.close());
    } catch (error) {
      throw failure(error instanceof Error ? error.message : String(error));
    }
  });
  return answer as pulumi.Output<Answer>;
}

/** Ends the program with the message alone: one thrown this late is printed with its stack, as long as it has one. */
function failure(message: string): pulumi.RunError {
  const error = new pulumi.RunError(message);
  error.stack = "";
  return error;
}
