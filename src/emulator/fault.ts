import type { OutgoingHttpHeaders } from "node:http";

/** The operations of the service's API. */
export type Operation = "register" | "list" | "get" | "delete";

/** Selects the requests that fail. */
export interface FaultTarget {
  /** The operation that fails, or every one. */
  readonly operation: Operation | "any";
  /** Only requests for this endpoint. Applies to get and delete. */
  readonly id?: string;
  /** How many matching requests to let through first. Default 0. */
  readonly after?: number;
  /** How many requests fail before the fault is used up. Default 1. Infinity never ends. */
  readonly times?: number;
}

/**
 * How a request fails. "Effect" is the operation's change to the service; list and get have none.
 *
 * | kind | effect | the client sees |
 * | --- | --- | --- |
 * | `refuse` | none | a reset before the request was read |
 * | `reset-before` | none | a reset after its request was read |
 * | `reset-after` | takes place | a reset in place of the answer |
 * | `hang-before` | none | no answer |
 * | `hang-after` | takes place | no answer |
 * | `delay` | takes place at once | the right answer, `delayMs` late |
 * | `late-commit` | takes place after `delayMs` | no answer |
 * | `status` | only with `effect: true` | `status`, with `headers` and `body` (an object goes as JSON) |
 * | `truncated` | takes place | the right status and headers, half of the body, then the connection closes |
 * | `malformed` | takes place | the right status, and a complete body with half of the JSON |
 * | `empty` | takes place | the right status, no body |
 * | `oversized` | takes place | the right answer, padded with spaces to `bytes` (default 32 MiB), no content-length |
 *
 * A request that the service would refuse anyway never has an effect. To refuse connections altogether, call
 * `emulator.goOffline()`.
 */
export type Misbehaviour =
  | { readonly kind: "refuse" | "reset-before" | "reset-after" | "hang-before" | "hang-after" }
  | { readonly kind: "truncated" | "malformed" | "empty" }
  | { readonly kind: "delay" | "late-commit"; readonly delayMs: number }
  | { readonly kind: "oversized"; readonly bytes?: number }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: OutgoingHttpHeaders;
      readonly body?: unknown;
      readonly effect?: boolean;
    };

/** Which requests fail, and how. */
export type Fault = FaultTarget & Misbehaviour;
/** The kind of a fault. */
export type FaultKind = Misbehaviour["kind"];

/** Every kind of fault. Useful for generating a test matrix. */
export const FAULT_KINDS: readonly FaultKind[] = [
  "refuse",
  "reset-before",
  "reset-after",
  "hang-before",
  "hang-after",
  "delay",
  "late-commit",
  "status",
  "truncated",
  "malformed",
  "empty",
  "oversized",
];

/** A fault that was planted. */
export interface PlantedFault {
  /** How many requests have failed so far. */
  readonly hits: number;
  /** Removes the fault. */
  remove(): void;
}
