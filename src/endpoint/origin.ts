import { createHash } from "node:crypto";

/** Where and with which key an endpoint was registered. Today's settings may differ. */
export interface Origin {
  baseUrl: string;
  /**
   * A fingerprint of the API key: 24 bits of its hash, which reveal nothing useful. Another fingerprint means a rotated key
   * or another account. (Its name stands in users' state and stays.)
   */
  account: string;
  /** The name of the `WebhooksProvider`; absent for the default provider. Another name shows that a resource has moved. */
  provider?: string;
}

interface OriginSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly providerName: string;
}

export function originOf({ baseUrl, apiKey, providerName }: OriginSettings): Origin {
  return {
    baseUrl: new URL(baseUrl).href.replace(/\/+$/, ""),
    account: fingerprintOfKey(apiKey),
    ...(providerName === "" ? {} : { provider: providerName }),
  };
}

export function fingerprintOfKey(apiKey: string): string {
  return createHash("sha256").update(`pulumi-webhook-endpoints\0${apiKey}`).digest("hex").slice(0, 6);
}
