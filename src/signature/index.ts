export type { HeadersLike, HeaderValue } from "./headers";
export type { RawBody, VerificationFailure, VerificationResult } from "./result";
export { WebhookSecretError } from "./secret";
export type { SignedHeaders, SignOptions } from "./sign";
export { sign } from "./sign";
export type { Verifier, VerifierOptions } from "./verify";
export { createVerifier, verify, verifyDetailed } from "./verify";
