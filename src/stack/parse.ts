import { isRecord, parseJson } from "../shared/json";
import { DEFAULT_TOLERANCE_SECONDS } from "../signature/tolerance";
import {
  fingerprintOf,
  problemsOfSecrets,
  problemsOfTolerance,
  type ReceiverConfig,
  ReceiverConfigError,
  type ReceiverEndpoint,
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
  // `trim` also removes the byte order mark that Windows PowerShell writes. An output that is a JSON string is encoded twice.
  const text = typeof config === "string" ? config.trim() : undefined;
  const once = text === undefined ? config : (parseJson(text) ?? text);
  const value = typeof once === "string" ? (parseJson(once) ?? once) : once;
  const problems = isRecord(value) ? problemsOf(value) : [`it ${mistakeIn(value)}`];
  if (problems.length > 0) {
    const reason = `the receiver's configuration${where && ` ${where}`} cannot be used: ${problems.join("; ")}`;
    throw new ReceiverConfigError("CONFIG_INVALID", reason);
  }
  const { secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, endpoints = {} } = value as ReceiverConfig;
  return { version: 1, secrets, toleranceSeconds, endpoints, fingerprint: fingerprintOf(secrets) };
}

/** A key that is not known here is ignored: a later version may add some. */
function problemsOf({ version, secrets, toleranceSeconds, endpoints }: Record<string, unknown>): string[] {
  if (typeof version === "number" && version > 1)
    return ["its version is not 1: update pulumi-webhook-endpoints here"];
  if (version !== 1)
    return [
      `its version must be 1: use the one output that receiverConfig made, as ${HOW_TO_GET_IT} prints it`,
    ];
  return [
    ...problemsOfSecrets(secrets),
    ...problemsOfTolerance(toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS),
    ...(isEndpoints(endpoints ?? {})
      ? []
      : ["endpoints must be an object whose values have an id, a url and a type"]),
  ];
}

function isEndpoints(value: unknown): value is Record<string, ReceiverEndpoint> {
  const isEndpoint = (each: unknown) =>
    isRecord(each) && [each.id, each.url, each.type].every((part) => typeof part === "string");
  return isRecord(value) && Object.values(value).every(isEndpoint);
}

/** Says what stands in place of a configuration. */
function mistakeIn(value: unknown): string {
  const text = typeof value === "string" ? value : "";
  if (value === undefined) return `is not set: use the output of ${HOW_TO_GET_IT}`;
  if (text === "[secret]") return `is masked: use the output of ${HOW_TO_GET_IT}`;
  if (/^(['"])\s*\{.*\1$/s.test(text))
    return "is in quotes: remove them, because `docker --env-file` keeps them";
  if (/^(export\s+)?\w+\s*=\s*['"]?\{/.test(text))
    return "begins with a name and =: keep only the JSON after it";
  return `is not the JSON that ${HOW_TO_GET_IT} prints`;
}
