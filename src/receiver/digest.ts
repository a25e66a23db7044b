import { createHash } from "node:crypto";

/** Returns 43 characters that stand for a string, however long that is: letters, digits, `-` and `_`. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
