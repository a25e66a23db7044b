import { randomBytes } from "node:crypto";
import { signatureOver } from "../support";

export interface Message {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns random numbers below a limit, the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
type Random = ReturnType<typeof randomFrom>;

const ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-:";
const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/** Makes a message signed with the secret. By its turn, one in 32 has an id that is not canonical, and another one such a timestamp. */
export function genuine(random: Random, secret: string, now: number, turn: number): Message {
  const size = random(8) === 0 ? 7_900 + random(600) : random(300);
  const isText = random(4) > 0;
  const byte = () => (isText || random(16) > 0 ? 0x20 + random(95) : random(256));
  const body = Buffer.from(Array.from({ length: size }, byte));
  const character = () => ID_CHARACTERS[random(ID_CHARACTERS.length)] ?? "";
  const plainId = Array.from({ length: 1 + random(30) }, character).join("");
  const seconds = String(now - random(200) + 100);
  const id = turn % 32 === 0 ? pick(random, [`${plainId}.1`, `${plainId} 2`, `é${plainId}`]) : plainId;
  const isOddTime = turn % 32 === 1;
  const timestamp = isOddTime ? pick(random, [`0${seconds}`, `${seconds}.0`, `+${seconds}`]) : seconds;
  // The reference signs the number that it reads.
  const signature = signatureOver(secret, Buffer.concat([Buffer.from(`${id}.${seconds}.`), body]));
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature };
  return { body, headers };
}

/** Changes one or two things: the body, a header, or what stands next to the signature in its header. */
export function mutated(random: Random, message: Message): Message {
  const once = change(random, message);
  return random(4) === 0 ? change(random, once) : once;
}

function change(random: Random, { body, headers }: Message): Message {
  const what = random(8);
  if (what < 2) return { headers, body: Buffer.from(changeText(random, body.toString("latin1")), "latin1") };
  const name = NAMES[what - 2] ?? "webhook-signature";
  const changed = what < 5 ? changeText : amongOthers;
  return { body, headers: { ...headers, [name]: changed(random, headers[name] ?? "") } };
}

/** Puts a signature header between other entries, as a sender that supports several versions or rotates a secret does. */
function amongOthers(random: Random, header: string): string {
  const others = (below: number) => Array.from({ length: random(below) }, () => otherEntry(random, header));
  const many = random(16) === 0 ? 60 : 4;
  return [...others(many), header, ...others(many)].join(random(4) === 0 ? "  " : " ");
}

function otherEntry(random: Random, header: string): string {
  const base64 = randomBytes(32).toString("base64");
  return pick(random, [
    `v1,${base64}`,
    `v2,${base64}`,
    pick(random, ["v1", "v1,", "v1,short", ",", "v1a,x,y", "", "\t", "\u0100", "v1,\ud800", "%\u0000"]),
    changeText(random, header.slice(0, 47)),
    header.slice(0, 20 + random(27)),
    String.fromCharCode(random(256)).repeat(random(60)),
  ]);
}

function changeText(random: Random, text: string): string {
  const at = random(text.length + 1);
  const code = text.charCodeAt(at) || 0x41;
  const [before, after] = [text.slice(0, at), text.slice(at + 1)];
  const other = pick(random, [code ^ (1 << random(7)), code + 0x100 * (1 + random(200)), random(0x10000)]);
  return pick(random, [
    `${before}${String.fromCharCode(other)}${after}`,
    `${before}.${after}`,
    before + after,
    before,
    `${before}${String.fromCharCode(random(256))}${text.slice(at)}`,
    pick(random, [`${text}, ${text}`, ` ${text}x`, `0${text}`, `${text}=`, `${text},x`]),
  ]);
}

function pick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[random(choices.length)] ?? choices[0];
}
