/** A header's name and value. One that was sent twice is there twice. */
export type HeaderPair = readonly [name: string, value: string];

/** A request that somebody recorded. */
export interface Capture {
  readonly headers: readonly HeaderPair[];
  /** Absent if the file has only the headers. */
  readonly body?: Buffer;
  /** Unix seconds. Absent if the file does not say when it arrived. */
  readonly receivedAt?: number;
}

const CGI_NAME = /^HTTP_(.+)$|^(webhook_(?:id|timestamp|signature))$/i;
const CGI_CONTENT = /^CONTENT_(TYPE|LENGTH|ENCODING)$/;

/** Returns a header's name. CGI, WSGI, Rack and PHP write `HTTP_WEBHOOK_ID` for `webhook-id`, and logs `webhook_id`. */
export function headerName(name: string): string {
  const [, variable, key = CGI_CONTENT.test(name) ? name : undefined] = CGI_NAME.exec(name) ?? [];
  const cgi = variable ?? key;
  return cgi === undefined ? name : cgi.toLowerCase().replaceAll("_", "-");
}

export function isOurHeader([name]: HeaderPair): boolean {
  return /^webhook-(id|timestamp|signature)$/i.test(name);
}

/** Returns the headers of a list that has names and values in turn, as `rawHeaders` has them. */
export function pairsInTurn(strings: readonly string[]): HeaderPair[] {
  return strings.flatMap((name, at) =>
    at % 2 === 0 ? [[headerName(name), strings[at + 1] ?? ""] as const] : [],
  );
}

/** Returns the first value of a header, or undefined. The name is in lower case. */
export function headerValue(headers: readonly HeaderPair[], name: string): string | undefined {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1];
}
