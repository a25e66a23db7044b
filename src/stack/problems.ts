/** The least that the Standard Webhooks specification has of a key, in bytes. */
const shortestKey = 24;

/**
 * What is wrong with the secrets of a receiver, each by its place; no reason repeats a secret or a part of it. A hole in the
 * list is a secret that is not known yet.
 */
export function problemsOfSecrets(secrets: readonly unknown[]): string[] {
  if (secrets.length === 0) return ["there is no secret: a receiver needs at least one"];
  return secrets.flatMap((secret, index) => {
    const problem = secrets.indexOf(secret) < index ? "is the same as an earlier one" : problemOf(secret);
    return problem === undefined ? [] : [`secret ${index + 1} of ${secrets.length} ${problem}`];
  });
}

/** What is wrong with a tolerance. */
export function problemsOfTolerance(toleranceSeconds: unknown): string[] {
  const good = Number.isSafeInteger(toleranceSeconds) && Number(toleranceSeconds) >= 0;
  return good ? [] : ["toleranceSeconds is no whole number of seconds from 0 on"];
}

function problemOf(secret: unknown): string | undefined {
  if (typeof secret !== "string") return "is no text";
  if (secret === "") return "is empty";
  if (/^\[?(secret|masked|redacted|hidden)\]?$/i.test(secret) || /[*•]{3}/.test(secret))
    return "is masked: somebody copied what a screen or a log shows instead of the value";
  if (secret.trim() !== secret) return "begins or ends with white space, such as the line end of a file";
  if (!secret.startsWith("whsec_"))
    return 'does not begin with "whsec_": it is no signing secret of the service, or only a part of one';
  if (/(…|\.\.\.)$/.test(secret)) return "is cut off";
  const key = secret.slice("whsec_".length);
  const bytes = Buffer.from(key, "base64");
  if (bytes.toString("base64") !== key)
    return 'is cut off or altered: what follows "whsec_" is not padded base64';
  if (bytes.length < shortestKey)
    return `is cut off: its key has ${bytes.length} bytes, and the shortest one has ${shortestKey}`;
  return undefined;
}
