import type { Properties } from "../provider/facts/exportedState";
import { type Configuration, PROVIDER_NAME_KEY, settingText } from "../provider/settings";
import { stackConfiguration } from "../shared/pulumiInternals";
import { isDefaultProvider } from "../shared/urn";

/**
 * Looks up settings among a provider's own inputs, and then in the stack's configuration. The engine gives that to the default
 * provider as its inputs, and to an explicit one only in the environment.
 */
export function settingLookup(
  inputs: Properties,
  providerName: string,
  environment: NodeJS.ProcessEnv,
): Configuration {
  const stack = stackConfiguration(environment);
  return (key) => {
    if (key === PROVIDER_NAME_KEY) return isDefaultProvider(providerName) ? "" : providerName;
    const name = key.replace(/^webhooks:/, "");
    return settingText(inputs[name]) || settingText(stack[name]);
  };
}
