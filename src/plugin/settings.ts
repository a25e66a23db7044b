import { type Configuration, PROVIDER_NAME_KEY, settingText } from "../provider/settings";
import { parseJson } from "../shared/json";
import { isDefaultProvider } from "../shared/urn";
import type { Properties } from "./values";

/**
 * Looks up settings among a provider's own inputs, and then in the stack's configuration. The engine gives that to the default
 * provider as its inputs, and to an explicit one only in the environment.
 */
export function settingLookup(
  inputs: Properties,
  providerName: string,
  environment: NodeJS.ProcessEnv,
): Configuration {
  // The stack's configuration of this package, as JSON by names such as `baseUrl`. Undocumented.
  const stack = Object(parseJson(environment.PULUMI_CONFIG ?? ""));
  return (key) => {
    if (key === PROVIDER_NAME_KEY) return isDefaultProvider(providerName) ? "" : providerName;
    const name = key.replace(/^webhooks:/, "");
    return settingText(inputs[name]) || settingText(stack[name]);
  };
}
