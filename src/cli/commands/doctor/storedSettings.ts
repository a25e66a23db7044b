import { type Deployment, providerNameOf, type Resource } from "../../../provider/facts/exportedState";
import { resolveSettings, settingText } from "../../../provider/settings";
import { originOf } from "../../../provider/state";
import { parseJson } from "../../../shared/json";
import type { Origin } from "../../../shared/permanent";
import { CliError } from "../../errors";
import type { KnownStack } from "../../inventory/stacks";
import type { Context } from "../../run";

/**
 * Returns where the settings lead that Pulumi stored at the last `pulumi up`. `pulumi refresh` and `pulumi destroy` use them, as does the deletion of
 * what a move leaves behind. Undefined if no endpoint of the stack has them, or they cannot be read.
 */
export async function storedOrigin(context: Context, stack: KnownStack): Promise<Origin | undefined> {
  const { env, output, pulumi } = context;
  const providers = new Set(
    stack.state.endpoints.filter((each) => providerNameOf(each) === undefined).map((each) => each.provider),
  );
  if (providers.size === 0) return undefined;
  const { value } = await pulumi
    .forStack(stack.name)
    .find<{ readonly deployment?: Deployment | null } | null>(["stack", "export", "--show-secrets"])
    .catch(emptyIfFailed);
  const isDefault = ({ urn, id = "" }: Resource) => providers.has(`${urn}::${id}`);
  const { inputs } = value?.deployment?.resources?.find(isDefault) ?? {};
  if (inputs === undefined) return undefined;
  // The native plugin's have no namespace.
  const stored = (key: string) => textOf(inputs[key] ?? inputs[key.replace("webhooks:", "")]);
  const result = resolveSettings(stored, env);
  if ("problems" in result) return undefined;
  output.remember(result.settings.apiKey);
  return originOf({ ...result.settings, providerName: "" });
}

function emptyIfFailed(error: unknown): { readonly value?: undefined } {
  if (!(error instanceof CliError)) throw error;
  return {};
}

/** @param value as an export with its secrets has it: a secret is JSON in an envelope */
function textOf(value: unknown): string | undefined {
  const { plaintext } = Object(value) as { readonly plaintext?: unknown };
  return settingText(typeof plaintext === "string" ? parseJson(plaintext) : value);
}
