import * as pulumi from "@pulumi/pulumi";
import { isRecord } from "../shared/json";
import { shown } from "../shared/masking";
import { failOnce, withoutStack } from "../shared/pulumiInternals";
import { fingerprintOf } from "../signature/secret";
import { DEFAULT_TOLERANCE_SECONDS } from "../signature/verify";
// Two imports, because the declarations must suit TypeScript 3.8, which has no inline types.
import type { ReceiverConfig, ReceiverEndpoint } from "./receiverConfigFormat";
import { problemsOfVerification } from "./receiverConfigFormat";

/** A `WebhookEndpoint`, or what has these three of one. */
export type ReceiverConfigEndpoint = Record<keyof ReceiverEndpoint, pulumi.Input<string>>;

/** The argument of `receiverConfig`. */
export interface ReceiverConfigArgs {
  /** The endpoints whose deliveries the receiver gets, by names that you choose. The map may be an output. Default: none. */
  endpoints?: pulumi.Input<Record<string, pulumi.Input<ReceiverConfigEndpoint>>> | undefined;
  /** The secrets that the service signs with, issued out of band: one, or a list while one is rotated. The list may be an output. */
  secrets: pulumi.Input<string | pulumi.Input<string>[]>;
  /** How old, and how far ahead, a delivery's timestamp may be, in seconds, as an integer. Default: 300; 0 turns this window off. */
  toleranceSeconds?: pulumi.Input<number> | undefined;
}

/**
 * Puts everything that a receiver needs into one secret output. Export it, or pass it to the resource that runs the receiver,
 * which calls `receiverFromEnv`, `receiverFromFile` or `receiverFromStack` of `pulumi-webhook-endpoints/stack`.
 *
 * The output is always secret. Its fingerprint may be shown, `pulumi.unsecret(config.fingerprint)`, and changes with the secrets.
 * The program fails with every problem of the secrets and the tolerance at once, in the preview if all of them are known there.
 *
 * @example
 * export const receiver = receiverConfig({ endpoints: { jobs }, secrets: config.requireSecret("signingSecret") });
 */
export function receiverConfig(args: ReceiverConfigArgs): pulumi.Output<ReceiverConfig> {
  const endpoints = pulumi.output(args.endpoints ?? {}).apply((all) => pulumi.output(described(all)));
  // Apart from the endpoints, whose ids are unknown until they are registered.
  const verification = pulumi
    .all([args.secrets, args.toleranceSeconds])
    .apply(([given, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS]) => {
      const secrets = [given].flat();
      refuse(problemsOfVerification(secrets, toleranceSeconds));
      return { version: 1 as const, secrets, toleranceSeconds, fingerprint: fingerprintOf(secrets) };
    });
  const config = pulumi
    .all([verification, endpoints])
    .apply(([verified, all]) => ({ ...verified, endpoints: all }));
  return failOnce(pulumi.secret(config));
}

/** Keeps what a configuration says of each endpoint. @throws RunError for what is not one, which TypeScript may overlook in an output */
function described(endpoints: Readonly<Record<string, ReceiverConfigEndpoint>>) {
  if (!isRecord(endpoints) || pulumi.Resource.isInstance(endpoints))
    refuse([`endpoints is ${kindOf(endpoints)}: pass a map of names to endpoints, such as { jobs }`]);
  const lacks = (one: unknown) => ["id", "url", "type"].some((name) => !Reflect.get(Object(one), name));
  const others = Object.keys(endpoints).filter((name) => lacks(endpoints[name]));
  refuse(
    others.map(
      (name) =>
        `${JSON.stringify(shown(name))} of endpoints has no id, url and type: pass a WebhookEndpoint, such as the one that a component has`,
    ),
  );
  return Object.fromEntries(
    Object.entries(endpoints).map(([name, { id, url, type }]) => [name, { id, url, type }]),
  );
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a resource" : `a ${typeof value}`;
}

/** @throws RunError for any problem. The SDK prints it without a stack, and without a secret. */
function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw withoutStack(
    new pulumi.RunError(
      `receiverConfig: ${problems.join("; ")}. Correct its arguments; set a secret again with \`pulumi config set --secret\` (CONFIG_INVALID)`,
    ),
  );
}
