import { isRecord, parseJson } from "../shared/json";
import { DEFAULT_TOLERANCE_SECONDS } from "../signature/verify";
import {
  fingerprintOf,
  mistakeIn,
  problemsOfVerifying,
  type ReceiverConfig,
  ReceiverConfigError,
} from "./config";

export const HOW_TO_GET_IT = "`pulumi stack output receiver --show-secrets --json`";

/**
 * Parses a receiver's configuration: the JSON that a stack's secret output holds, or the value itself.
 *
 * @throws ReceiverConfigError `CONFIG_INVALID` with every problem at once; it repeats no secret
 */
export function parseReceiverConfig(config: unknown): ReceiverConfig {
  return parseConfig(config, { where: "" });
}

/** @param where the place it was found, which the message names after "the receiver's configuration" */
export function parseConfig(config: unknown, { where }: { where: string }): ReceiverConfig {
  // An output that is a JSON string is encoded twice.
  const value = decoded(decoded(config));
  const problems = isRecord(value)
    ? problemsOf(value)
    : [
        `it ${mistakeIn(value) ?? (value === undefined ? "is not set" : "is not the JSON of a configuration")}`,
      ];
  if (problems.length > 0)
    throw new ReceiverConfigError(
      "CONFIG_INVALID",
      `the receiver's configuration${where && ` ${where}`} cannot be used: ${problems.join("; ")}. Use what receiverConfig returned, ` +
        `as ${HOW_TO_GET_IT} prints it`,
    );
  const { secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, endpoints = {} } = value as ReceiverConfig;
  return { version: 1, secrets, toleranceSeconds, endpoints, fingerprint: fingerprintOf(secrets) };
}

/** Parses JSON. Returns anything else without the space around it, or the byte order mark that Windows PowerShell writes. */
function decoded(value: unknown): unknown {
  return typeof value === "string" ? (parseJson(value.trim()) ?? value.trim()) : value;
}

/** A key that is not known here is ignored: a later version may add some. */
function problemsOf({
  version,
  secrets,
  toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
}: Record<string, unknown>): string[] {
  if (version !== 1)
    return [
      "its version is not 1: it may be all outputs of the stack, or of a later pulumi-webhook-endpoints than this one",
    ];
  return problemsOfVerifying(secrets, toleranceSeconds);
}
