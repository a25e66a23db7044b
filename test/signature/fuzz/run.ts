import { isUtf8 } from "node:buffer";
import { Webhook } from "standardwebhooks";
import { createVerifier, verify } from "../../../src/signature";
import { genuine, type Message, mutated, randomFrom } from "./mutate";

export interface FuzzResult {
  /** Messages that were accepted although something that the signature covers was changed. */
  readonly forged: readonly string[];
  /** Messages that the reference accepts, and that were refused without one of the documented differences. */
  readonly wronglyRefused: readonly string[];
  /** How many messages both accepted, and how many only the reference, by the documented difference. */
  readonly accepted: number;
  readonly differences: Readonly<Record<string, number>>;
}

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW = 1614265330;
export const FUZZ_NOW_MS = NOW * 1000;
/** Mutations of one genuine message. */
const EACH = 20;

/**
 * Verifies this many mutated messages, and each genuine one they were made of, with this package and with the reference,
 * `standardwebhooks`, whose clock is `Date.now`: set it to `FUZZ_NOW_MS`. Throws if verification throws.
 */
export function fuzz({ mutations, seed }: { mutations: number; seed: number }): FuzzResult {
  const random = randomFrom(seed);
  const verifier = createVerifier({ secrets: SECRET, now: () => FUZZ_NOW_MS });
  const reference = new Webhook(SECRET);
  const forged: string[] = [];
  const wronglyRefused: string[] = [];
  const differences: Record<string, number> = {};
  let accepted = 0;

  function compare(message: Message, original: Message): void {
    const { body, headers } = message;
    const isAccepted = verifier.verify(body, headers);
    if (isAccepted !== verify(body, headers, SECRET)) throw new Error("verify differs");
    const shown = JSON.stringify({ headers, body: body.toString("base64") });
    if (isAccepted) {
      accepted++;
      if (!isUntouched(message, original)) forged.push(shown);
    } else if (referenceAccepts(reference, message)) {
      const difference = documentedDifference(message, original);
      if (difference === undefined) wronglyRefused.push(shown);
      else differences[difference] = (differences[difference] ?? 0) + 1;
    }
  }

  for (let done = 0; done < mutations; done += EACH) {
    const message = genuine(random, SECRET, NOW, done / EACH);
    compare(message, message);
    // A change that each run meets: the reference passes over what follows the signature.
    const longer = `${message.headers["webhook-signature"]},x`;
    compare({ ...message, headers: { ...message.headers, "webhook-signature": longer } }, message);
    for (let i = 0; i < EACH; i++) compare(mutated(random, message), message);
  }
  return { forged, wronglyRefused, accepted, differences };
}

/** Whether everything is as it was signed, and the signature is still in its header. */
function isUntouched({ body, headers }: Message, original: Message): boolean {
  // The signature of a message whose timestamp is not canonical covers the number that the reference reads.
  const signedTimestamp = String(Number.parseInt(original.headers["webhook-timestamp"] ?? "", 10));
  return (
    body.equals(original.body) &&
    headers["webhook-id"] === original.headers["webhook-id"] &&
    headers["webhook-timestamp"] === signedTimestamp &&
    hasSignatureOf(original, headers)
  );
}

function hasSignatureOf(original: Message, headers: Message["headers"]): boolean {
  const own = original.headers["webhook-signature"] ?? "";
  return headers["webhook-signature"]?.split(" ").includes(own) === true;
}

function referenceAccepts(reference: Webhook, { body, headers }: Message): boolean {
  // It decodes the body before it hashes it, and so takes different bytes for the same.
  if (!isUtf8(body)) return false;
  try {
    reference.verify(body, { ...headers }, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

/** The differences that docs/signature-mismatch.md lists. */
function documentedDifference({ headers }: Message, original: Message): string | undefined {
  if (!/^[!-\-/-~]+$/.test(headers["webhook-id"] ?? "")) return "form of the id";
  if (!/^(0|[1-9][0-9]*)$/.test(headers["webhook-timestamp"] ?? "")) return "form of the timestamp";
  return hasSignatureOf(original, headers) ? undefined : "form of the entry";
}
