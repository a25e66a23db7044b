import { parseJson } from "../shared/json";
import { unknownOptions } from "../shared/knownOptions";
import { UNKNOWN_VALUE } from "../shared/unknownValue";
import { problemOfSecret, WebhookSecretError } from "../signature/secret";
import { problemOfUrl } from "./url";

export const ARGUMENT_NAMES: readonly string[] = ["url", "secrets", "receiver", "timeoutSeconds", "triggers"];

/** The arguments as the verbs get them. */
export type ValidationInputs = Readonly<Record<string, unknown>>;

/** Returns the secrets of a validation: its `secrets`, or those in its `receiver`, which may be a JSON string. */
export function secretsOf({ secrets, receiver }: ValidationInputs): unknown {
  if (isUnknown(receiver)) return UNKNOWN_VALUE;
  return (
    secrets ?? Reflect.get(Object(typeof receiver === "string" ? parseJson(receiver) : receiver), "secrets")
  );
}

/** Returns every problem of the arguments. None repeats a url or a secret; what is not known yet is skipped. */
export function problemsOfArguments(args: ValidationInputs): string[] {
  const { __provider: _, ...given } = Object.fromEntries(
    Object.entries(args).filter(([, value]) => isGiven(value)),
  );
  const problems = unknownOptions(given, ARGUMENT_NAMES, "an argument of a receiver validation");
  const { url, secrets, receiver, timeoutSeconds } = args;
  if (!isGiven(url)) problems.push("url is missing");
  else if (!isUnknown(url)) problems.push(...prefixed("url", problemOfUrl(url)));
  if (isGiven(secrets) === isGiven(receiver)) problems.push("exactly one of secrets and receiver is needed");
  else
    problems.push(
      ...problemsOfSecrets(secretsOf(args), isGiven(secrets) ? "secrets" : "the receiver's secrets"),
    );
  if (isGiven(timeoutSeconds) && !isUnknown(timeoutSeconds)) {
    const seconds = typeof timeoutSeconds === "number" ? timeoutSeconds : Number.NaN;
    if (!(seconds > 0 && seconds <= 3600))
      problems.push("timeoutSeconds must be a number of seconds above 0, at most 3600");
  }
  return problems;
}

function problemsOfSecrets(secrets: unknown, name: string): string[] {
  if (isUnknown(secrets)) return [];
  if (!Array.isArray(secrets) || secrets.length === 0)
    return [`${name} must be a non-empty list of signing secrets`];
  return secrets.flatMap((secret: unknown, at) =>
    isUnknown(secret) ? [] : prefixed(`secret ${at + 1} of ${secrets.length}`, malformation(secret)),
  );
}

function malformation(secret: unknown): string | undefined {
  const problem = problemOfSecret(secret);
  return problem && `is malformed: ${new WebhookSecretError(`it ${problem}`).reason}`;
}

function prefixed(name: string, problem: string | undefined): string[] {
  return problem === undefined ? [] : [`${name} ${problem}`];
}

function isUnknown(value: unknown): boolean {
  return value === UNKNOWN_VALUE;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
