import { type LookupOptions, lookUpEndpoint, lookUpEndpoints } from "../endpoint/lookup";
import type { schema } from "./schema";
import type { Properties } from "./values";

type FunctionToken = keyof typeof schema.functions;

const FUNCTIONS: Readonly<
  Record<FunctionToken, (args: Properties, options: LookupOptions) => Promise<Properties>>
> = {
  "webhooks:index:getWebhookEndpoint": async ({ id }, options) => ({
    ...(await lookUpEndpoint(String(id), options)),
  }),
  "webhooks:index:getWebhookEndpoints": async (args, options) => ({
    endpoints: await lookUpEndpoints(args, options),
  }),
};

/** Calls a function of the schema. @throws Error for one that the schema does not have */
export async function callFunction(
  token: string,
  args: Properties,
  options: LookupOptions,
): Promise<Properties> {
  if (!Object.hasOwn(FUNCTIONS, token)) throw new Error(`webhooks has no function ${token}`);
  return FUNCTIONS[token as FunctionToken](args, options);
}
