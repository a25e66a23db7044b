import * as pulumi from "@pulumi/pulumi";
import type { EndpointType } from "../program/webhookEndpoint";
import { failOnce } from "../shared/failOnce";
import { DEFAULT_TOLERANCE_SECONDS } from "../signature/tolerance";
import { fingerprintOf, problemsOfVerifying, type ReceiverConfig } from "./config";

/** The parts of a `WebhookEndpoint` that a receiver's configuration names. */
export interface ReceiverConfigEndpoint {
  readonly id: pulumi.Output<pulumi.ID>;
  readonly url: pulumi.Output<string>;
  readonly type: pulumi.Output<EndpointType>;
}

/** The argument of `receiverConfig`. */
export interface ReceiverConfigArgs {
  /** The endpoints whose deliveries the receiver gets, by names that you choose. Default: none. */
  endpoints?: Record<string, ReceiverConfigEndpoint>;
  /** A list of the secrets that the service signs with, issued out of band; several while one is rotated. The list may be an output. */
  secrets: pulumi.Input<pulumi.Input<string>[]>;
  /** How old, and how far ahead, a delivery's timestamp may be, in seconds, as an integer. Default: DEFAULT_TOLERANCE_SECONDS; 0 turns this window off. */
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
        throw new pulumi.RunError(
          `receiverConfig: ${problems}. Correct its arguments; set a secret again with \`pulumi config set --secret\` (CONFIG_INVALID)`,
        );
      return { version: 1 as const, secrets, toleranceSeconds, fingerprint: fingerprintOf(secrets) };
    });
  const config = pulumi
    .all([verifying, endpoints])
    .apply(([verified, all]) => ({ ...verified, endpoints: all }));
  return failOnce(pulumi.secret(config));
}
