import { createHmac, randomBytes } from "node:crypto";
import { type HeadersLike, type SignedHeaders, verifyDetailed } from "../../src/signature";

/** Published with the Standard Webhooks specification. */
export const knownAnswer = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1614265330,
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
} as const;

export const knownHeaders: SignedHeaders = {
  "webhook-id": knownAnswer.id,
  "webhook-timestamp": String(knownAnswer.timestamp),
  "webhook-signature": knownAnswer.signature,
};

export function newSecret(bytes = 24): string {
  return `whsec_${randomBytes(bytes).toString("base64")}`;
}

/** Signs any string, including those that `sign` refuses. */
export function signatureOver(secret: string, content: string | Uint8Array): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
}

export function wrongSignatures(count: number): string {
  return Array.from({ length: count }, () => `v1,${randomBytes(32).toString("base64")}`).join(" ");
}

/** Verifies the known answer, or another body than its own. Gives the reason for which it is refused, or "ok". */
export function reasonFor(headers: HeadersLike, { body }: { body?: unknown } = { body: knownAnswer.body }) {
  const result = verifyDetailed(body as string, headers, knownAnswer.secret, 0);
  return result.ok ? "ok" : result.reason;
}

export function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
