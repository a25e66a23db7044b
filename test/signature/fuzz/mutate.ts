import { randomBytes } from "node:crypto";
import { sign } from "../../../src/signature";

export interface Message {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A genuine message; one in eight carries the signature of another secret as well, before or after its own. */
export function genuine(random: (below: number) => number, secret: string, timestamp: number): Message {
  const size = random(8) === 0 ? 7_900 + random(600) : random(300);
  const body = Buffer.alloc(size);
  for (let i = 0; i < size; i++) body[i] = random(16) === 0 ? random(256) : 0x20 + random(95);
  const id = Array.from({ length: 1 + random(30) }, () => ID_CHARACTERS[random(ID_CHARACTERS.length)]).join(
    "",
  );
  const headers = { ...sign({ id, timestamp: timestamp - random(200) + 100, body, secret }) };
  if (random(8) === 0) {
    const other = `v1,${randomBytes(32).toString("base64")}`;
    const own = headers["webhook-signature"];
    return {
      body,
      headers: { ...headers, "webhook-signature": random(2) === 0 ? `${own} ${other}` : `${other} ${own}` },
    };
  }
  return { body, headers };
}

const ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-:";
const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/**
 * The message with one thing changed that must make it not genuine. (To change a second, foreign entry of the signature header
 * does not: so the header is first cut to its own entry.)
 */
export function mutated(random: (below: number) => number, message: Message, own: string): Message {
  const headers: Record<string, string> = { ...message.headers, "webhook-signature": own };
  const what = random(6);
  if (what < 2 && message.body.length > 0) return { headers, body: changeBytes(random, message.body) };
  if (what === 0) return { headers, body: Buffer.from([random(256)]) };
  const name = NAMES[what % 3] ?? "webhook-id";
  const value = headers[name] ?? "";
  return { body: message.body, headers: { ...headers, [name]: changeText(random, value) } };
}

function changeBytes(random: (below: number) => number, body: Buffer): Buffer {
  const at = random(body.length);
  switch (random(4)) {
    case 0: {
      const changed = Buffer.from(body);
      changed[at] = (changed[at] ?? 0) ^ (1 << random(8));
      return changed;
    }
    case 1:
      return body.subarray(0, at);
    case 2:
      return Buffer.concat([body.subarray(0, at), Buffer.from([random(256)]), body.subarray(at)]);
    default:
      return Buffer.concat([body.subarray(0, at), body.subarray(at + 1)]);
  }
}

function changeText(random: (below: number) => number, text: string): string {
  const at = random(text.length);
  const code = text.charCodeAt(at);
  const replacement =
    [code ^ (1 << random(7)), code + 0x100 * (1 + random(200)), random(0x10000), 0x2e][random(4)] ?? 0;
  switch (random(6)) {
    case 5:
      return random(10) === 0 ? "" : text + String.fromCharCode(random(256));
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return `${text.slice(0, at)}${String.fromCharCode(random(256))}${text.slice(at)}`;
    case 2:
      return (
        [`${text}, ${text}`, ` ${text}x`, `0${text}`, `${text}=`, text.toUpperCase() + text.toLowerCase()][
          random(5)
        ] ?? ""
      );
    default:
      return (
        text.slice(0, at) +
        String.fromCharCode(replacement === code ? code ^ 1 : replacement) +
        text.slice(at + 1)
      );
  }
}
