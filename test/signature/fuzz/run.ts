import { createVerifier, verify } from "../../../src/signature";
import { genuine, type Message, mutated, randomFrom } from "./mutate";

export interface FuzzResult {
  readonly mutations: number;
  readonly genuine: number;
  /** Mutated messages that were accepted, and genuine ones that were not: there must be none. */
  readonly wrong: readonly Message[];
}

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW = 1614265330;
/** Mutations of one genuine message. */
const EACH = 20;

/** Verifies that many mutated messages, and each genuine one they were made of. Throws what verification throws. */
export function fuzz({ mutations, seed }: { mutations: number; seed: number }): FuzzResult {
  const random = randomFrom(seed);
  const verifier = createVerifier({ secrets: SECRET, now: () => NOW * 1000 });
  const wrong: Message[] = [];
  let messages = 0;
  for (let done = 0; done < mutations; done += EACH) {
    const message = genuine(random, SECRET, NOW);
    messages++;
    const accepted =
      verifier.verify(message.body, message.headers).ok && verify(message.body, message.headers, SECRET, 0);
    if (!accepted) wrong.push(message);
    const entries = (message.headers["webhook-signature"] ?? "").split(" ");
    const own = entries.find((entry) => accepts(verifier, message, entry)) ?? "";
    for (let i = 0; i < EACH; i++) {
      const change = mutated(random, message, own);
      if (isSame(change, message, own)) continue;
      if (verifier.verify(change.body, change.headers).ok || verify(change.body, change.headers, SECRET, 0))
        wrong.push(change);
    }
  }
  return { mutations, genuine: messages, wrong };
}

function accepts(verifier: ReturnType<typeof createVerifier>, message: Message, signature: string): boolean {
  return verifier.verify(message.body, { ...message.headers, "webhook-signature": signature }).ok;
}

/** A mutation may by chance change nothing, such as a doubled byte of which one is taken away. */
function isSame(change: Message, message: Message, own: string): boolean {
  const names = ["webhook-id", "webhook-timestamp"];
  return (
    change.body.equals(message.body) &&
    change.headers["webhook-signature"] === own &&
    names.every((name) => change.headers[name] === message.headers[name])
  );
}
