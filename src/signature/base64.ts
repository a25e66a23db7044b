/**
 * Whether the text is base64 as RFC 4648 section 4 writes it: standard alphabet, padded, the unused bits zero. Then no
 * two texts stand for the same bytes.
 */
export function isCanonicalBase64(text: string): boolean {
  return text !== "" && Buffer.from(text, "base64").toString("base64") === text;
}
