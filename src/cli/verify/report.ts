import { dataOfSecret, describeSecret } from "../secrets/namedSecret";
import type { NamedSecret } from "../secrets/secrets";
import { clockText, durationText } from "../text";
import type { Diagnosis } from "./diagnosis";

export function dataOf(diagnosis: Diagnosis, tried: readonly NamedSecret[], now: number): object {
  const { secret } = diagnosis;
  const signer = secret === undefined ? null : dataOfSecret(secret);
  if (!diagnosis.verified) {
    const { verified, reason, finding, advice } = diagnosis;
    return { verified, reason, finding, advice, secret: signer, tried: tried.map(dataOfSecret) };
  }
  const { verified, id, timestamp } = diagnosis;
  return { verified, id, timestamp, ageSeconds: now - timestamp, secret: signer };
}

export function linesOf(diagnosis: Diagnosis, tried: readonly NamedSecret[], now: number): string[] {
  if (diagnosis.verified) {
    const { id, timestamp, secret } = diagnosis;
    const age = now >= timestamp ? `${durationText(now - timestamp)} ago` : "just now";
    return [
      `Verified: ${id} was signed with ${describeSecret(secret)}.`,
      `Sent: ${clockText(timestamp)}, ${age}.`,
    ];
  }
  const { reason, finding, advice, secret } = diagnosis;
  const used = secret === undefined ? [] : [`Signed with: ${describeSecret(secret)}.`];
  const isSecretUnknown = reason === "wrong-secret" || reason === "search-ended";
  return [
    `Not verified: ${reason}.`,
    finding,
    ...used,
    ...(isSecretUnknown ? [`Tried: ${tried.map(describeSecret).join(", ")}.`] : []),
    `What to do: ${advice}`,
  ];
}
