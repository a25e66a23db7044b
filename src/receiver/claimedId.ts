import { type HeadersLike, readSignatureHeaders } from "../signature/headers";

/** Longer ids are not passed on to a log. */
const LONGEST_ID = 256;

/** Returns the id that a request claims, which is not verified; undefined if a header is missing or malformed, or the id is too long. */
export function claimedId(headers: HeadersLike): string | undefined {
  const claimed = readSignatureHeaders(headers);
  return typeof claimed === "string" || claimed.id.length > LONGEST_ID ? undefined : claimed.id;
}
