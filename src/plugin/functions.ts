import { type LookupOptions, lookUpEndpoint, lookUpEndpoints } from "../program/lookUpEndpoints";
import type { Properties } from "../provider/facts/exportedState";
import { foreign } from "../shared/escape";
import type { schema } from "./schema";

type Look = (args: Properties, options: LookupOptions) => Promise<object>;

const FUNCTIONS: Readonly<Record<string, Look>> = {
  "webhooks:index:getWebhookEndpoint": ({ id }, options) => lookUpEndpoint(id as string, options),
  "webhooks:index:getWebhookEndpoints": async (args, options) => ({
    endpoints: await lookUpEndpoints(args, options),
  }),
} satisfies Record<keyof typeof schema.functions, Look>;

/**
 * Calls a function of the schema. An argument that is null counts as left out.
 *
 * @throws Error for a function that the schema does not have
 */
export async function callFunction(
  token: string,
  args: Properties,
  options: LookupOptions,
): Promise<Properties> {
  const look = FUNCTIONS[token];
  if (look === undefined) throw new Error(`webhooks has no function ${foreign(token)}`);
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  return { ...(await look(given, options)) };
}
