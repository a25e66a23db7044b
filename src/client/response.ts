/** The names are in lower case, as undici returns them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP response, or as much of it as arrived. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Returns the service's time when it responded, in milliseconds since 1970; null without a readable `Date` header. */
export function serverTimeOf({ date }: Headers): number | null {
  const time = Date.parse(String(date));
  return Number.isNaN(time) ? null : time;
}
