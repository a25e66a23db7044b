export type { HeadersLike, HeaderValue } from "./headers";
export type { RawBody, VerificationFailure, VerificationResult } from "./result";
export { WebhookSecretError } from "./secret";
export { type SignedHeaders, type SignOptions, sign } from "./sign";
export { createVerifier, type Verifier, type VerifierOptions } from "./verifier";
export { verify, verifyDetailed } from "./verify";
