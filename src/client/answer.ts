/** The names are in lower case, as undici returns them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An HTTP answer, or as much of it as arrived. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Returns the first value of a header. */
export function headerOf(headers: Headers, name: string): string | undefined {
  return [headers[name]].flat()[0];
}

/** Returns the service's time when it answered, in milliseconds since 1970; null without a readable `Date` header. */
export function serverTimeOf(headers: Headers): number | null {
  const time = Date.parse(headerOf(headers, "date") ?? "");
  return Number.isNaN(time) ? null : time;
}

/** An answer that breaks the contract. The message describes what is wrong with its shape and never quotes a value. */
export class MalformedAnswer extends Error {
  override readonly name = "MalformedAnswer";
}

/** @throws MalformedAnswer instead of the parser's own error, whose message quotes the body */
export function parseBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new MalformedAnswer(body.length === 0 ? "it is empty" : "it is not JSON");
  }
}
