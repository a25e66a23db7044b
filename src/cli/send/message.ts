import { randomBytes } from "node:crypto";
import type { NamedSecret } from "../secrets";
import { signedHeaders } from "./attempt";

/** What to send, each time. */
export interface Message {
  readonly event: string;
  readonly id: string;
  /** As it was signed. */
  readonly body: Buffer;
  /** How old it is when it arrives, in seconds. */
  readonly age: number;
  /** Called for each attempt: a delivery that is signed here gets a new timestamp. */
  readonly headers: () => Readonly<Record<string, string | string[]>>;
}

export interface SignedMessage {
  readonly event: string;
  readonly id: string;
  readonly body: Buffer;
  /** In seconds. */
  readonly age: number;
  readonly secrets: readonly NamedSecret[];
}

/** Returns a message that is signed here. */
export function signedMessage(options: SignedMessage): Message {
  const { event, id, body, age } = options;
  return { event, id, body, age, headers: () => signedHeaders(options) };
}

export function newId(): string {
  return `msg_${randomBytes(12).toString("hex")}`;
}
