/** An answer that is not what the contract says. The message names what is wrong with its shape, never a value. */
export class MalformedAnswer extends Error {
  override readonly name = "MalformedAnswer";
}

/** @throws MalformedAnswer without the parser's own error, whose message quotes the text. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new MalformedAnswer(body.length === 0 ? "it is empty" : "it is not JSON");
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
