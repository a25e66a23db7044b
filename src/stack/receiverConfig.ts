import * as pulumi from "@pulumi/pulumi";
import type { WebhookEndpoint } from "../program/webhookEndpoint";
import { failOnce, withoutStack } from "../shared/failOnce";
import { DEFAULT_TOLERANCE_SECONDS } from "../signature/verify";
// Two imports, because the declarations must suit TypeScript 3.8, which has no inline types.
import type { ReceiverConfig } from "./config";
import { fingerprintOf, problemsOfVerifying } from "./config";

/** The argument of `receiverConfig`. */
export interface ReceiverConfigArgs {
  /** The endpoints whose deliveries the receiver gets, by names that you choose. Default: none. */
  endpoints?: Record<string, Pick<WebhookEndpoint, "id" | "url" | "type">>;
  /** A list of the secrets that the service signs with, issued out of band; several while one is rotated. The list may be an output. */
  secrets: pulumi.Input<pulumi.Input<string>[]>;
  /** How old, and how far ahead, a delivery's timestamp may be, in seconds, as an integer. Default: 300; 0 turns this window off. */
  toleranceSeconds?: pulumi.Input<number>;
}

/**
 * Puts everything that a receiver needs into one secret output. Export it, or pass it to the resource that runs the receiver,
 * which calls `receiverFromEnv`, `receiverFromFile` or `receiverFromStack` of `pulumi-webhook-endpoints/stack`.
 *
 * The output is always secret. Its fingerprint may be shown, `pulumi.unsecret(config.fingerprint)`, and changes with the secrets.
 * The program fails with every problem of the secrets and the tolerance at once, in the preview if all of them are known there.
 *
 * @example
 * export const receiver = receiverConfig({ endpoints: { jobs }, secrets: [config.requireSecret("signingSecret")] });
 */
export function receiverConfig(args: ReceiverConfigArgs): pulumi.Output<ReceiverConfig> {
  const endpoints = pulumi.output(
    Object.fromEntries(
      Object.entries(args.endpoints ?? {}).map(([name, { id, url, type }]) => [name, { id, url, type }]),
    ),
  );
  // Apart from the endpoints, whose ids are unknown until they are registered.
  const verifying = pulumi
    .all([args.secrets, args.toleranceSeconds])
    .apply(([secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS]) => {
      const problems = problemsOfVerifying(secrets, toleranceSeconds).join("; ");
      if (problems !== "")
        throw withoutStack(
          new pulumi.RunError(
            `receiverConfig: ${problems}. Correct its arguments; set a secret again with \`pulumi config set --secret\` (CONFIG_INVALID)`,
          ),
        );
      return { version: 1 as const, secrets, toleranceSeconds, fingerprint: fingerprintOf(secrets) };
    });
  const config = pulumi
    .all([verifying, endpoints])
    .apply(([verified, all]) => ({ ...verified, endpoints: all }));
  return failOnce(pulumi.secret(config));
}
