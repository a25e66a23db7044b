import { mistakeInSeconds, UNKNOWN_VALUE, unknownOptions } from "../shared/optionChecks";
import { problemOfReceiverUrl } from "../shared/url";
import { problemsOfSecrets } from "../signature/secret";
import { decodedConfig } from "../stack/receiverConfigFormat";

const ARGUMENT_NAMES: readonly string[] = ["url", "secrets", "receiver", "timeoutSeconds", "triggers"];

/** The arguments as the verbs get them. */
export type ValidationInputs = Readonly<Record<string, unknown>>;

/** Returns the secrets of a validation as a list: its `secrets`, or those in its `receiver`, which may be a JSON string. */
export function secretsOf({ secrets, receiver }: ValidationInputs): unknown {
  if (receiver === UNKNOWN_VALUE) return UNKNOWN_VALUE;
  if (typeof secrets === "string") return [secrets];
  return secrets ?? Reflect.get(Object(decodedConfig(receiver)), "secrets");
}

/** Returns every problem of the arguments. None repeats a url or a secret; what is not known yet is skipped. */
export function problemsOfArguments({ __provider: _, ...given }: ValidationInputs): string[] {
  const { url, secrets, receiver, timeoutSeconds = UNKNOWN_VALUE } = given;
  const signing = secretsOf(given);
  const problems = unknownOptions(given, ARGUMENT_NAMES, "an argument of a receiver validation");
  const urlProblem = url === UNKNOWN_VALUE ? undefined : problemOfReceiverUrl(url);
  if (urlProblem !== undefined) problems.push(`url ${urlProblem}`);
  if ((secrets === undefined) === (receiver === undefined))
    problems.push(
      "exactly one of secrets and receiver is needed: the signing secrets, or what receiverConfig returned",
    );
  else if (![signing].flat().includes(UNKNOWN_VALUE)) problems.push(...problemsOfSecrets(signing));
  const timeoutMistake = timeoutSeconds !== UNKNOWN_VALUE && mistakeInSeconds(timeoutSeconds);
  if (timeoutMistake) problems.push(`timeoutSeconds ${timeoutMistake}`);
  return problems;
}
