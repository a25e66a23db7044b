/** How a body was changed on its way. */
export type BodyChange =
  | "body-reserialized"
  | "body-compressed"
  | "body-decompressed"
  | "body-json-string"
  | "body-base64"
  | "body-printed"
  | "body-wrapped"
  | "newline-added"
  | "newline-removed"
  | "line-endings-changed"
  | "byte-order-mark"
  | "encoding-changed";

/** A body that the sender may have signed. */
export interface BodyVariant {
  readonly change: BodyChange;
  readonly bytes: Uint8Array;
  /** Completes the sentence "The sender signed …". */
  readonly description: string;
}

/** What descriptions call the body. For a variant of a variant, it is replaced. */
export const THIS_BODY = "this body";

/** Returns the body in another form. @param how completes the sentence "The sender signed this body …" */
export function thisBody(change: BodyChange, bytes: Uint8Array, how: string): BodyVariant {
  return { change, bytes, description: `${THIS_BODY} ${how}` };
}

/** In larger bodies, only changes that keep the characters are looked for: line ends, a byte order mark, compression. In bytes. */
export const LARGEST_REWRITTEN_BYTES = 8 * 1024 * 1024;
