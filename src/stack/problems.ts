import { LONGEST_TOLERANCE_SECONDS } from "../receiver/resolve";
import { problemOfSecret } from "../signature/secret";
import { problemOfTolerance } from "../signature/tolerance";

/** The shortest key that the Standard Webhooks specification allows, in bytes. A shorter one was cut off. */
const SHORTEST_KEY_BYTES = 24;

/**
 * Returns what is wrong with the secrets of a receiver's configuration, each by its place. No problem repeats a secret or a part of
 * it. A hole in the list is a secret that is not known yet.
 */
export function problemsOfSecrets(secrets: readonly unknown[]): string[] {
  if (secrets.length === 0) return ["secrets is empty: a receiver needs at least one"];
  return secrets.flatMap((secret, index) => {
    const isRepeated = secrets.indexOf(secret) < index;
    const problem = isRepeated
      ? "is the same as an earlier one"
      : problemOfSecret(secret, SHORTEST_KEY_BYTES);
    return problem === undefined ? [] : [`secret ${index + 1} of ${secrets.length} ${problem}`];
  });
}

/** Returns what is wrong with the tolerance of a receiver's configuration. */
export function problemsOfTolerance(toleranceSeconds: unknown): string[] {
  const problem = problemOfTolerance(toleranceSeconds, LONGEST_TOLERANCE_SECONDS);
  return problem === undefined ? [] : [problem];
}
