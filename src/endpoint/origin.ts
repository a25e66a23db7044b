import { createHash } from "node:crypto";

/** Where and as whom an endpoint was registered: not today's, when settings have changed. */
export interface Origin {
  /** The service's address, so that another address of today is not read as drift. */
  baseUrl: string;
  /**
   * Tells one API key from another: 24 bits of its hash, which say nothing useful of the key. Another one is a rotated key
   * or another account.
   */
  account: string;
}

export function originOf({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): Origin {
  const hash = createHash("sha256").update(`pulumi-webhook-endpoints\0${apiKey}`).digest("hex");
  return { baseUrl: new URL(baseUrl).href.replace(/\/+$/, ""), account: hash.slice(0, 6) };
}
