import { shown } from "./shown";

/** A name without a dot or a slash that is as long as a short key, and has a digit, but is not made of words as `WEBHOOK_SECRET_2` is. */
const LIKE_A_KEY = /^(?![A-Za-z]+(?:[_-][A-Za-z]+)*[_-]?\d{0,2}$)(?=.*\d)[^./\\]{16,}$/;

/** Returns whether somebody may have passed a key in the place of a name or a path. A message then must not repeat it. */
export function mayBeKey(name: string): boolean {
  return LIKE_A_KEY.test(name) || shown(name) !== name;
}
