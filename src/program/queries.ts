import * as pulumi from "@pulumi/pulumi";
import type { Endpoint, EndpointType } from "../client/endpoint";
import { CodedError } from "../shared/codedError";
import { messageLine } from "../shared/escape";
import { unknownOptions } from "../shared/optionChecks";
import { failOnce, isMocked, withoutStack } from "../shared/pulumiInternals";
import { type LookupOptions, lookUpEndpoint, lookUpEndpoints } from "./lookUpEndpoints";
import { stackSettings } from "./stackSettings";
import type { WebhooksProvider } from "./webhooksProvider";

type FunctionName = "getWebhookEndpoint" | "getWebhookEndpoints";

/** The options of a query. */
export interface QueryOptions {
  /** The account to ask. Default: that of the stack's configuration or of the environment. */
  provider?: WebhooksProvider | undefined;
}

/** The argument of `getWebhookEndpoint`. */
export interface GetWebhookEndpointArgs {
  /** The id that the service assigned. */
  id: pulumi.Input<string>;
}

/** The filter of `getWebhookEndpoints`. Without it, every endpoint is returned. */
export interface GetWebhookEndpointsArgs {
  /** Only endpoints with this url, in any spelling. Default: all. */
  url?: pulumi.Input<string> | undefined;
  /** Only endpoints of this type. Default: both. */
  type?: pulumi.Input<EndpointType> | undefined;
}

/**
 * Returns an endpoint that is managed elsewhere, as the service describes it now. It asks in previews too. A missing endpoint
 * fails the program. The result is always secret, because its url may hold a token; `pulumi.unsecret` shows it. To have the endpoint
 * in the stack's state, use `WebhookEndpoint.get`.
 */
export function getWebhookEndpoint(
  args: GetWebhookEndpointArgs,
  opts: QueryOptions = {},
): pulumi.Output<Endpoint> {
  return ask("getWebhookEndpoint", ["id"], args, opts, ({ id }, options) => lookUpEndpoint(id, options));
}

/** Returns the endpoints of the account, as the service lists them now. It asks in previews too. The result is always secret. */
export function getWebhookEndpoints(
  args: GetWebhookEndpointsArgs = {},
  opts: QueryOptions = {},
): pulumi.Output<Endpoint[]> {
  return ask("getWebhookEndpoints", ["url", "type"], args, opts, lookUpEndpoints);
}

/**
 * Asks the service once all arguments are known. The result is secret, because nobody can know which urls hold tokens.
 *
 * @throws RunError when plain JavaScript passes an argument or an option that the function does not have
 */
function ask<Args extends object, Result extends Endpoint | Endpoint[]>(
  name: FunctionName,
  argumentNames: readonly string[],
  args: Args,
  opts: QueryOptions,
  question: (args: pulumi.Unwrap<Args>, options: LookupOptions) => Promise<Result>,
): pulumi.Output<Result> {
  const problems = [
    ...unknownOptions(args, argumentNames, `an argument of ${name}`),
    ...unknownOptions(opts, ["provider"], `an option of ${name}`),
  ];
  if (problems.length > 0) throw new pulumi.RunError(`${name}: ${problems.join("; ")}`);
  const settings = opts.provider?.programSettings ?? stackSettings();
  const result = pulumi.all([args, settings]).apply(async ([known, values]) => {
    if (isMocked(pulumi.runtime.getMonitor())) return mocked<Result>(name, known);
    const options: LookupOptions = {
      configuration: (key) => values[key],
      environment: process.env,
      warn: (message) => pulumi.log.warn(messageLine(message)),
    };
    try {
      return await question(known as pulumi.Unwrap<Args>, options);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      throw withoutStack(new pulumi.RunError(error.message));
    }
  });
  return pulumi.secret<unknown>(failOnce(result)) as pulumi.Output<Result>;
}

/** Asks the `call` of a unit test's mocks, as the functions of other packages do. */
async function mocked<Result>(name: FunctionName, args: object): Promise<Result> {
  const result = await pulumi.runtime.invoke(`webhooks:index:${name}`, { ...args });
  return name === "getWebhookEndpoint" ? result : result.endpoints;
}
