export type { HeadersLike, HeaderValue } from "./headers";
export type { RawBody, VerificationFailure, VerificationResult } from "./result";
export { WebhookSecretError } from "./secret";
export { type SignedHeaders, type SignOptions, sign } from "./sign";
export { createVerifier, type Verifier, type VerifierOptions, verify, verifyDetailed } from "./verify";
