import * as pulumi from "@pulumi/pulumi";
import type { EndpointType } from "../endpoint/types";
import { unknownOptions } from "../knownOptions";
import type { ReceiverConfig } from "./config";
import { fingerprintOf } from "./config";
import { problemsOfSecrets, problemsOfTolerance } from "./problems";

/** What of a `WebhookEndpoint` a receiver's configuration names. */
export interface ReceiverConfigEndpoint {
  readonly id: pulumi.Output<pulumi.ID>;
  readonly url: pulumi.Output<string>;
  readonly type: pulumi.Output<EndpointType>;
}

export interface ReceiverConfigArgs {
  /** The endpoints whose deliveries the receiver gets, by names of your own. Default: none. */
  endpoints?: Record<string, ReceiverConfigEndpoint>;
  /** What the service signs with, issued out of band; several while one is rotated. */
  secrets: pulumi.Input<string>[];
  /** How old, and how far ahead, a delivery's timestamp may be, in whole seconds. Default: 300; 0 turns this window off. */
  toleranceSeconds?: pulumi.Input<number>;
}

/**
 * All that a receiver needs, as one secret output: export it, or give it to what runs the receiver, which builds it by
 * `receiverFromEnv`, `receiverFromFile` or `receiverFromStack` of `pulumi-webhook-endpoints/stack`.
 *
 * It is always secret. `pulumi.unsecret(config.fingerprint)` may be shown, and changes when a receiver needs the new one.
 * The program fails, in previews too, with every problem of what is known by then.
 *
 * @example
 * export const receiver = receiverConfig({ endpoints: { jobs }, secrets: [config.requireSecret("signingSecret")] });
 */
export function receiverConfig(args: ReceiverConfigArgs): pulumi.Output<ReceiverConfig> {
  const unknown = unknownOptions(
    args,
    ["endpoints", "secrets", "toleranceSeconds"],
    "an option of receiverConfig",
  );
  if (unknown.length > 0)
    throw new pulumi.RunError(`receiverConfig: ${unknown.join("; ")}. (CONFIG_INVALID)`);
  const endpoints = pulumi.output(
    Object.fromEntries(
      Object.entries(args.endpoints ?? {}).map(([name, { id, url, type }]) => [name, { id, url, type }]),
    ),
  );
  const config = pulumi
    .all([checked(args), args.secrets, args.toleranceSeconds, endpoints])
    .apply(([, secrets, toleranceSeconds = 300, named]) => {
      const unmarked = { version: 1, secrets, toleranceSeconds, endpoints: named } as const;
      return { ...unmarked, fingerprint: fingerprintOf(unmarked) };
    });
  return pulumi.secret(config);
}

/** Throws with the problems of all that is known: in a preview what is unknown hides none of the rest. */
async function checked({ secrets, toleranceSeconds }: ReceiverConfigArgs): Promise<void> {
  // A secret that is unknown stays a hole in the list.
  const known = { secrets: new Array<unknown>(secrets.length), toleranceSeconds: 300 };
  const reads = [
    ...secrets.map((secret, at) =>
      pulumi.output(secret).apply((value) => {
        known.secrets[at] = value;
      }),
    ),
    pulumi.output(toleranceSeconds).apply((value = 300) => {
      known.toleranceSeconds = value;
    }),
  ];
  // Asked only because the answer comes once each has run, or is known not to.
  await Promise.all(reads.map((read) => pulumi.isSecret(read)));
  const problems = [...problemsOfSecrets(known.secrets), ...problemsOfTolerance(known.toleranceSeconds)];
  if (problems.length > 0)
    throw new pulumi.RunError(`receiverConfig: ${problems.join("; ")}. (CONFIG_INVALID)`);
}
