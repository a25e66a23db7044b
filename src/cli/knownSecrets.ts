import { spellingsOf } from "../shared/spellings";

/** The shortest part of a signing secret that is masked, in characters. */
const SHORTEST_PART = 6;
/** The shortest part of a key in hexadecimal, and of an API key, that is masked. A shorter one may be a number, or a word. */
const SHORTEST_KEY_PART = 12;
/** A shorter value, such as the key of a test, may be an ordinary word. Such a value is masked in urls only. */
const SHORTEST_VALUE = 8;
/** The longer words that `--json` has for the type of an endpoint and the kind of its owner. */
const WORDS: readonly string[] = ["development", "production", "interrupted", "may-hold"];
/** The part of a url after its scheme. */
const REST_OF_URL = /(?<=:\/\/)\S+/g;
const PREFIX = "whsec_";
/** A signing secret, also as a url spells it. */
const SIGNING_SECRET = /whsec_[\w+/=%-]+/g;
const MASK = "…";
/** What is printed in place of a signing secret. */
export const MASKED_SECRET = `${PREFIX}${MASK}`;

/** Parts of secrets, by their length. */
const parts = new Map<number, Set<string>>();
/** What finds each value, by the value. */
const values = new Map<string, RegExp>();
const wordsInUrls = new Map<string, RegExp>();

/** Keeps a signing secret out of everything that this process prints from now on: as it is, encoded otherwise, or in part. */
export function hideSecret(secret: string): void {
  const digits = secret.replace(PREFIX, "").replace(/=+$/, "");
  const key = Buffer.from(digits, "base64");
  const forms = [
    digits,
    key.toString("base64url"),
    encodeURIComponent(digits),
    digits.replaceAll("/", "\\/"),
    Buffer.from(secret).toString("base64"),
  ];
  for (const form of forms) hideParts(form, SHORTEST_PART);
  for (const form of [key.toString("hex"), key.toString("hex").toUpperCase()])
    hideParts(form, SHORTEST_KEY_PART);
}

/** Keeps an API key out of everything that this process prints from now on, however it is spelt, and a long one also in part. */
export function hideKey(key: string): void {
  hideValue(key);
  if (key.length >= 2 * SHORTEST_KEY_PART) hideParts(key, SHORTEST_KEY_PART);
}

/** Keeps a value, such as a url that is a secret, out of everything that this process prints from now on, however it is spelt. */
export function hideValue(value: string): void {
  const hidden = value.length < SHORTEST_VALUE || WORDS.includes(value) ? wordsInUrls : values;
  hidden.set(value, spellingsOf(value));
}

/** Masks what `hideSecret`, `hideKey` and `hideValue` were given, and whatever is spelt as a signing secret. */
export function withoutSecrets(text: string): string {
  const masked = without(values, text)
    .replace(REST_OF_URL, (rest) => without(wordsInUrls, rest))
    .replace(SIGNING_SECRET, MASKED_SECRET);
  return parts.size === 0 ? masked : withoutParts(masked);
}

function without(hidden: ReadonlyMap<string, RegExp>, text: string): string {
  let masked = text;
  for (const spellings of hidden.values()) masked = masked.replaceAll(spellings, MASK);
  return masked;
}

function hideParts(form: string, length: number): void {
  const known = parts.get(length) ?? new Set<string>();
  for (let at = 0; at + length <= form.length; at += 1) known.add(form.slice(at, at + length));
  parts.set(length, known);
}

function withoutParts(text: string): string {
  let result = "";
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    let hiddenUntil = at;
    for (let next = at; next <= hiddenUntil; next += 1)
      hiddenUntil = Math.max(hiddenUntil, next + hiddenLength(text, next));
    if (hiddenUntil === at) continue;
    result += `${text.slice(end, at)}${MASK}`;
    end = hiddenUntil + paddingLength(text, hiddenUntil);
    at = end - 1;
  }
  return result + text.slice(end);
}

/** Returns the length of the part of a secret at this place, or 0. */
function hiddenLength(text: string, at: number): number {
  let longest = 0;
  for (const [length, known] of parts) if (known.has(text.slice(at, at + length))) longest = length;
  return longest;
}

function paddingLength(text: string, at: number): number {
  return /^(=|%3D){0,2}/i.exec(text.slice(at, at + 6))?.[0].length ?? 0;
}
