import { isRecord, parseJson } from "../shared/json";
import { nearestOf } from "../shared/knownOptions";
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

const KEYS = ["version", "secrets", "toleranceSeconds", "endpoints", "fingerprint"];

/** What the CLI prints in place of a secret output. */
export const MASKED = "[secret]";

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
  const invalid = (problems: readonly string[]) =>
    new ReceiverConfigError(
      "CONFIG_INVALID",
      `the receiver's configuration${where && ` ${where}`} cannot be used: ${problems.join("; ")}`,
    );
  const value = typeof config === "string" ? parseText(config) : config;
  if (value === MASKED) throw invalid([`it is masked: use the output of ${HOW_TO_GET_IT}`]);
  if (config === undefined) throw invalid([`it is not set: use the output of ${HOW_TO_GET_IT}`]);
  if (!isRecord(value)) throw invalid([`it is not the JSON that ${HOW_TO_GET_IT} prints`]);
  const { version, secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, endpoints = {} } = value;
  if (version !== 1) {
    const isLater = typeof version === "number" && version > 1;
    const odd = isLater
      ? "its version is not 1: update pulumi-webhook-endpoints here"
      : "its version must be 1";
    throw invalid([version === undefined ? whatElse(value) : odd]);
  }
  const problems = Array.isArray(secrets) ? problemsOfSecrets(secrets) : ["secrets must be a list"];
  problems.push(...problemsOfTolerance(toleranceSeconds), ...misspeltIn(value));
  if (!isRecord(endpoints) || !Object.values(endpoints).every(isEndpoint))
    problems.push("endpoints must be an object whose values have an id, a url and a type");
  if (problems.length > 0) throw invalid(problems);
  const checked = {
    version: 1,
    secrets: secrets as string[],
    toleranceSeconds: toleranceSeconds as number,
    endpoints: endpoints as Record<string, ReceiverEndpoint>,
  } as const;
  return { ...checked, fingerprint: fingerprintOf(checked.secrets) };
}

/**
 * A stack's output may hold the configuration as a JSON string, which is quoted once more when it is printed as JSON. Windows
 * PowerShell puts a byte order mark before what it writes to a file.
 */
function parseText(text: string): unknown {
  const trimmed = text.trim(); // a byte order mark counts as white space
  const value = trimmed === MASKED ? MASKED : parseJson(trimmed);
  return typeof value === "string" && value !== MASKED ? parseJson(value) : value;
}

/** Names the absent keys that others seem to stand for. What a later version adds is ignored here. */
function misspeltIn(config: Record<string, unknown>): string[] {
  const unknown = Object.keys(config).filter((name) => !KEYS.includes(name));
  const absent = KEYS.filter((key) => !(key in config));
  const meant = unknown.map((name) => nearestOf(name, absent) ?? absent.find((key) => key.startsWith(name)));
  return meant.flatMap((key) => (key === undefined ? [] : [`${key} is misspelt`]));
}

/** Says what is there in place of what receiverConfig creates. */
function whatElse(value: Record<string, unknown>): string {
  const [output] = Object.entries(value).find(([, each]) => isRecord(each) && each.version === 1) ?? [];
  return output === undefined
    ? "it was not created by receiverConfig"
    : `these are all outputs of a stack: use one, as ${HOW_TO_GET_IT} prints it`;
}

function isEndpoint(value: unknown): value is ReceiverEndpoint {
  return isRecord(value) && [value.id, value.url, value.type].every((part) => typeof part === "string");
}
