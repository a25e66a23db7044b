import * as pulumi from "@pulumi/pulumi";
import { hasType, VALIDATION_PROVIDER_CODE, VALIDATION_TYPE_TOKEN } from "../shared/permanent";
import type { ReceiverConfig } from "../stack/receiverConfigFormat";

/** The arguments of a `ReceiverValidation`: exactly one of `secrets` and `receiver`. */
export interface ReceiverValidationArgs {
  /** Where the receiver listens: an absolute http(s) URL without user-info. */
  url: pulumi.Input<string>;
  /** What signs its deliveries, `whsec_…`. With several, the receiver must accept each. Always kept as a secret. */
  secrets?: pulumi.Input<string | pulumi.Input<string>[]> | undefined;
  /** What `receiverConfig` of a TypeScript program returned. One that names an endpoint is known only once that endpoint is registered. */
  receiver?: pulumi.Input<ReceiverConfig> | undefined;
  /** How long to retry temporary failures, in seconds, at most 3600. Default: 60. */
  timeoutSeconds?: pulumi.Input<number> | undefined;
  /** A list of strings, numbers and booleans, with what changes with each release of the receiver. A change validates again. */
  triggers?: pulumi.Input<pulumi.Input<string | number | boolean>[]> | undefined;
}

/** Exactly one of the two. */
type Signing =
  | { secrets: NonNullable<ReceiverValidationArgs["secrets"]>; receiver?: undefined }
  | { receiver: NonNullable<ReceiverValidationArgs["receiver"]>; secrets?: undefined };

/**
 * Proves at deploy time that a receiver accepts genuine deliveries and refuses others, before events depend on it.
 *
 * For each secret it sends a delivery of the type `webhook.validation`, and one with a broken signature. It retries
 * temporary failures until its deadline, and fails the `up` with the likely cause. `pulumi refresh` validates once more: a receiver that
 * stopped working is reported as gone, and the next `up` validates again. A preview sends nothing unless it refreshes, as
 * `pulumi preview --refresh` does.
 *
 * @example
 * const proven = new ReceiverValidation("jobs", { url, secrets: signingSecret, triggers: [release] });
 * const jobs = new WebhookEndpoint("jobs", { url, type: "production" }, { dependsOn: proven });
 */
export class ReceiverValidation extends pulumi.CustomResource {
  /** Where the receiver listens. */
  declare public readonly url: pulumi.Output<string>;
  /** When the receiver was last validated by an `up`, in ISO 8601. */
  declare public readonly validatedAt: pulumi.Output<string>;

  constructor(name: string, args: ReceiverValidationArgs & Signing, opts?: pulumi.CustomResourceOptions) {
    const { secrets, receiver } = args;
    super(
      VALIDATION_TYPE_TOKEN,
      name,
      {
        validatedAt: undefined,
        ...args,
        secrets: secrets && pulumi.secret(secrets),
        receiver: receiver && pulumi.secret(receiver),
        __provider: VALIDATION_PROVIDER_CODE,
      },
      // The provider returns the secrets, because a refresh needs them: encrypted in the state, and no output of this class.
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["secrets"] }),
    );
  }

  /** Returns whether a value is a `ReceiverValidation`, also from another copy of this package, or a policy's resource of this type. */
  public static override isInstance(value: unknown): value is ReceiverValidation {
    return hasType(value, VALIDATION_TYPE_TOKEN);
  }
}
