import * as pulumi from "@pulumi/pulumi";
import { SETTING_NAMES, SETTINGS } from "../provider/settings";
import { isEncrypted } from "../shared/pulumiInternals";

/** Settings by their names in a configuration, such as `webhooks:apiKey`. */
export type ProgramSettings = Record<string, pulumi.Input<string> | undefined>;

/** Returns the settings in the stack's configuration. */
export function stackSettings(): ProgramSettings {
  const stack = new pulumi.Config("webhooks");
  return Object.fromEntries(
    SETTING_NAMES.map((name) => [
      `webhooks:${name}`,
      "isSecret" in SETTINGS[name] ? stack.getSecret(name) : stack.get(name),
    ]),
  );
}

/** Marks the stack's own resource once its program was warned. Several programs in a process, or several copies of this package in a program, share it. */
const WARNED = Symbol.for("pulumi-webhook-endpoints: warned of the API key in plain text");

/** Warns once a run if the stack's configuration holds the API key in plain text: it shows in Pulumi.<stack>.yaml. */
export function warnOfPlainKey(): void {
  const stack = Object(pulumi.runtime.getStackResource());
  const key = new pulumi.Config("webhooks").get("apiKey");
  if (Reflect.has(stack, WARNED) || key === undefined) return;
  if (isEncrypted(pulumi.runtime, "webhooks:apiKey") !== false) return;
  Reflect.set(stack, WARNED, true);
  void pulumi.log.warn(
    "webhooks:apiKey is in the stack's configuration in plain text. Encrypt it: pulumi config set --secret webhooks:apiKey, and rotate " +
      "the key if the file was committed.",
  );
}
