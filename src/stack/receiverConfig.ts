import * as pulumi from "@pulumi/pulumi";
import type { EndpointType } from "../endpoint/types";
import { failOnce } from "../shared/failOnce";
import { isRecord } from "../shared/json";
import { unknownOptions } from "../shared/knownOptions";
import { DEFAULT_TOLERANCE_SECONDS } from "../signature/tolerance";
import { fingerprintOf, problemsOfSecrets, problemsOfTolerance, type ReceiverConfig } from "./config";

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
  /** The secrets that the service signs with, issued out of band; several while one is rotated. */
  secrets: pulumi.Input<string>[];
  /** How old, and how far ahead, a delivery's timestamp may be, in seconds, as an integer. Default: DEFAULT_TOLERANCE_SECONDS; 0 turns this window off. */
  toleranceSeconds?: pulumi.Input<number>;
}

/**
 * Puts everything that a receiver needs into one secret output. Export it, or pass it to the resource that runs the receiver,
 * which calls `receiverFromEnv`, `receiverFromFile` or `receiverFromStack` of `pulumi-webhook-endpoints/stack`.
 *
 * The output is always secret. Its fingerprint may be shown, `pulumi.unsecret(config.fingerprint)`, and changes with the secrets.
 * The program fails, in previews too, with every problem of the values that are known at that point.
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
  // A receiver's own option `secrets` also takes a single one.
  if (!Array.isArray(args.secrets))
    throw new pulumi.RunError(
      'receiverConfig: secrets must be a list, such as [config.requireSecret("signingSecret")]. (CONFIG_INVALID)',
    );
  const endpoints = pulumi.output(
    Object.fromEntries(
      Object.entries(args.endpoints ?? {}).map(([name, endpoint]) => [name, partsOf(endpoint)]),
    ),
  );
  const config = pulumi
    .all([checked(args), args.secrets, args.toleranceSeconds, endpoints])
    .apply(([, secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, named]) => {
      const unmarked = { version: 1, secrets, toleranceSeconds, endpoints: named } as const;
      return { ...unmarked, fingerprint: fingerprintOf(secrets) };
    });
  return failOnce(pulumi.secret(config));
}

/** @throws RunError for what is no endpoint, as where one was passed in place of endpoints by name */
function partsOf(endpoint: ReceiverConfigEndpoint): ReceiverConfigEndpoint {
  const given: unknown = endpoint;
  if (!isRecord(given) || !("id" in given && "url" in given && "type" in given))
    throw new pulumi.RunError(
      "receiverConfig: endpoints must be an object with an endpoint for each name, such as { jobs }. (CONFIG_INVALID)",
    );
  return { id: endpoint.id, url: endpoint.url, type: endpoint.type };
}

/** Throws with the problems of every value that is known: in a preview, an unknown value hides no problem of the others. */
async function checked({ secrets, toleranceSeconds }: ReceiverConfigArgs): Promise<void> {
  // An unknown secret stays a hole in the list.
  const known = { secrets: new Array<unknown>(secrets.length), toleranceSeconds: DEFAULT_TOLERANCE_SECONDS };
  const reads = [
    ...secrets.map((secret, at) =>
      pulumi.output(secret).apply((value) => {
        known.secrets[at] = value;
      }),
    ),
    pulumi.output(toleranceSeconds).apply((value = DEFAULT_TOLERANCE_SECONDS) => {
      known.toleranceSeconds = value;
    }),
  ];
  // Awaited only because it resolves once each `apply` has run, or never will.
  await Promise.all(reads.map((read) => pulumi.isSecret(read)));
  const problems = [...problemsOfSecrets(known.secrets), ...problemsOfTolerance(known.toleranceSeconds)];
  if (problems.length > 0)
    throw new pulumi.RunError(`receiverConfig: ${problems.join("; ")}. (CONFIG_INVALID)`);
}
