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

/** Makes a message signed with the secret. One in sixteen has an id or a timestamp that is not canonical. */
export function genuine(random: Random, secret: string, now: number): Message {
  const size = random(8) === 0 ? 7_900 + random(600) : random(300);
  const body = Buffer.alloc(size);
  const isText = random(4) > 0;
  for (let i = 0; i < size; i++) body[i] = isText || random(16) > 0 ? 0x20 + random(95) : random(256);
  const character = () => ID_CHARACTERS[random(ID_CHARACTERS.length)] ?? "";
  const plainId = Array.from({ length: 1 + random(30) }, character).join("");
  const seconds = String(now - random(200) + 100);
  const id = random(32) === 0 ? pick(random, [`${plainId}.1`, `${plainId} 2`, `é${plainId}`]) : plainId;
  const isOddTime = random(32) === 0;
  const timestamp = isOddTime ? pick(random, [`0${seconds}`, `${seconds}.0`, `+${seconds}`]) : seconds;
  // The reference signs the number that it reads.
  const content = Buffer.concat([Buffer.from(`${id}.${seconds}.`), body]);
  return {
    body,
    headers: {
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": signatureOver(secret, content),
    },
  };
}

/** Changes one or two things: the body, a header, or what stands next to the signature in its header. */
export function mutated(random: Random, message: Message): Message {
  const once = change(random, message);
  return random(4) === 0 ? change(random, once) : once;
}

function change(random: Random, { body, headers }: Message): Message {
  const what = random(8);
  if (what < 2)
    return { headers, body: body.length > 0 ? changeBytes(random, body) : Buffer.from([random(256)]) };
  if (what < 5) {
    const name = NAMES[what - 2] ?? "webhook-id";
    return { body, headers: { ...headers, [name]: changeText(random, headers[name] ?? "") } };
  }
  const signature = amongOthers(random, headers["webhook-signature"] ?? "");
  return { body, headers: { ...headers, "webhook-signature": signature } };
}

/** Puts a signature header between other entries, as a sender that supports several versions or rotates a secret does. */
function amongOthers(random: Random, header: string): string {
  const others = (below: number) => Array.from({ length: random(below) }, () => otherEntry(random, header));
  const many = random(16) === 0 ? 60 : 4;
  return [...others(many), header, ...others(many)].join(random(4) === 0 ? "  " : " ");
}

function otherEntry(random: Random, header: string): string {
  const base64 = () => randomBytes(32).toString("base64");
  switch (random(8)) {
    case 0:
    case 1:
    case 2:
      return `v1,${base64()}`;
    case 3:
      return `v2,${base64()}`;
    case 4:
      return pick(random, [
        "v1",
        "v1,",
        "v1,short",
        ",",
        "v1a,x,y",
        "",
        "\t",
        "\u0100",
        "v1,\ud800",
        "%\u0000",
      ]);
    case 5:
      return changeText(random, header.slice(0, 47));
    case 6:
      return header.slice(0, 20 + random(27));
    default:
      return String.fromCharCode(random(256)).repeat(random(60));
  }
}

function changeBytes(random: Random, body: Buffer): Buffer {
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

function changeText(random: Random, text: string): string {
  const at = random(text.length + 1);
  const code = text.charCodeAt(at) || 0x41;
  const other = pick(random, [
    code ^ (1 << random(7)),
    code + 0x100 * (1 + random(200)),
    random(0x10000),
    0x2e,
  ]);
  switch (random(8)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1:
      return `${text.slice(0, at)}${String.fromCharCode(random(256))}${text.slice(at)}`;
    case 2:
      return pick(random, [`${text}, ${text}`, ` ${text}x`, `0${text}`, `${text}=`, `${text},x`]);
    case 3:
      return random(10) === 0 ? "" : text + String.fromCharCode(random(256));
    default:
      return text.slice(0, at) + String.fromCharCode(other) + text.slice(at + 1);
  }
}

function pick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[random(choices.length)] ?? choices[0];
}
