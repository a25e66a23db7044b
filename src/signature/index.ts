export type { JobEvent, WebhookEvent } from "./event";
export type { HeadersLike, HeaderValue } from "./headers";
export type { RawBody, VerificationFailure, VerificationResult } from "./result";
export { WebhookSecretError } from "./secret";
export { type SignedHeaders, type SignOptions, sign } from "./sign";
export { type EventOf, unwrap, WebhookVerificationError } from "./unwrap";
export { createVerifier, type Verifier, type VerifierOptions, verify, verifyDetailed } from "./verify";
