import { CodedError, KIND } from "../shared/codedError";
import { isRecord, parseJson } from "../shared/json";
import { fingerprintOf, mistakeIn, OUTPUT_AS_TEXT, problemsOfSecrets } from "../signature/secret";
import {
  DEFAULT_TOLERANCE_SECONDS,
  LONGEST_TOLERANCE_SECONDS,
  problemOfTolerance,
} from "../signature/verify";

/** The configuration of a receiver: what `receiverConfig` makes, and what a stack's secret output holds. Plain JSON. */
export interface ReceiverConfig {
  /** The version of this format. */
  version: 1;
  /** `whsec_…`; several while one is rotated. */
  secrets: string[];
  /** How old, and how far ahead, a delivery's timestamp may be, in seconds, as an integer; 0 turns this window off. */
  toleranceSeconds: number;
  /** The endpoints whose deliveries it receives, by the names that the program gave them. For people, not for verification. */
  endpoints: { [name: string]: ReceiverEndpoint };
  /**
   * Identifies the secrets without revealing them. It depends on nothing else: it stays the same when an endpoint is replaced, and
   * a different one means that receivers need the new configuration.
   */
  fingerprint: string;
}

/** An endpoint that delivers to the receiver. For people: verification does not use it. */
export interface ReceiverEndpoint {
  /** The id that the service assigned. */
  id: string;
  /** Where deliveries go. */
  url: string;
  /** What the endpoint is for. */
  type: string;
}

/** Returns every problem of what a receiver verifies with. */
export function problemsOfVerification(secrets: unknown, toleranceSeconds: unknown): string[] {
  const problem = problemOfTolerance(toleranceSeconds, LONGEST_TOLERANCE_SECONDS);
  return [...problemsOfSecrets(secrets), ...(problem === undefined ? [] : [problem])];
}

/** The stack's output that has a receiver's configuration, unless somebody names another. */
export const RECEIVER_OUTPUT = "receiver";
/** Prints it. */
export const OUTPUT_COMMAND = `pulumi stack output ${RECEIVER_OUTPUT} --show-secrets --json`;

/**
 * Parses a receiver's configuration: the JSON that a stack's secret output holds, or the value itself.
 *
 * @throws ReceiverConfigError `CONFIG_INVALID` with every problem at once; it repeats no secret
 */
export function parseReceiverConfig(config: unknown): ReceiverConfig {
  const { secrets, ...others } = parseConfig(config, { where: "" });
  return { version: 1, secrets, ...others, fingerprint: fingerprintOf(secrets) };
}

/** What a receiver has of a configuration. */
export type ParsedConfig = Omit<ReceiverConfig, "version" | "fingerprint">;

/** @param where the place it was found, which the message names after "the receiver's configuration" */
export function parseConfig(config: unknown, { where }: { where: string }): ParsedConfig {
  const value = decodedConfig(config);
  const problems = problemsOfConfig(value);
  if (problems.length > 0)
    throw new ReceiverConfigError(
      "CONFIG_INVALID",
      `the receiver's configuration${where && ` ${where}`} cannot be used: ${problems.join("; ")}. Use what receiverConfig returned, ` +
        `as \`${OUTPUT_COMMAND}\` prints it`,
    );
  const { secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, endpoints = {} } = value as ReceiverConfig;
  return { secrets, toleranceSeconds, endpoints };
}

/** Returns a configuration as a value, however often it was encoded: an output that is a JSON string is encoded twice. Checks nothing. */
export function decodedConfig(config: unknown): unknown {
  return decoded(decoded(config));
}

/** Parses JSON. Returns anything else without the space around it, or the byte order mark that Windows PowerShell writes. */
function decoded(value: unknown): unknown {
  return typeof value === "string" ? (parseJson(value.trim()) ?? value.trim()) : value;
}

/** What arrives in place of a configuration, and what to say. */
const MISTAKES: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [/^$/, "is empty"],
  [/\0/, "is in UTF-16, as Windows PowerShell 5 writes a file: save it as UTF-8"],
  OUTPUT_AS_TEXT,
  [/^(\["?)?whsec_/, "is only the signing secret: pass that to createReceiver as secrets"],
  [
    /^\{$/,
    "is only the first line of JSON that has several: in a .env file, put all of it in single quotes, but for `docker " +
      "--env-file` on one line without quotes",
  ],
  [/^\{\s*\w+\s*:/, "has lost its double quotes to a shell or systemd: put it in single quotes"],
  [/^\{\s*[\\'‘’“”]/, "has quotes that are escaped or not those of JSON"],
  [/^\{/, "is JSON that is cut off or altered"],
];

/** A key that is not known here is ignored: a later version may add some. */
function problemsOfConfig(value: unknown): string[] {
  if (value === undefined) return ["it is not set"];
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (!isRecord(value) || OUTPUT_AS_TEXT[0].test(text))
    return [`it ${mistakeIn(text, MISTAKES) ?? mistakeIn(text) ?? "is not the JSON of a configuration"}`];
  const { version, secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = value;
  if (version === 1) return problemsOfVerification(secrets, toleranceSeconds);
  return [
    "its version is not 1: it may be all outputs of the stack, or of a later pulumi-webhook-endpoints than this one",
  ];
}

/**
 * - `CONFIG_MISSING`: the named place has no configuration
 * - `CONFIG_INVALID`: there is one, but no receiver can be created from it
 * - `STACK_UNREADABLE`: `pulumi stack output` cannot be run, or failed
 */
export type ReceiverConfigErrorCode = "CONFIG_MISSING" | "CONFIG_INVALID" | "STACK_UNREADABLE";

/** A receiver's configuration is not available or cannot be used. Neither the message nor a property holds a secret. */
export class ReceiverConfigError extends CodedError<ReceiverConfigErrorCode> {
  /** @internal */ static readonly [KIND]: string = "ReceiverConfigError";
  /** Always `"ReceiverConfigError"`. */
  override readonly name = "ReceiverConfigError";
}
