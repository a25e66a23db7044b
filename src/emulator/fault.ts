import type { OutgoingHttpHeaders } from "node:http";

export type Operation = "register" | "list" | "get" | "delete";

/** Which requests go wrong. */
export interface FaultTarget {
  readonly operation: Operation | "any";
  /** Only requests for this endpoint: get and delete. */
  readonly id?: string;
  /** How many matching requests to let through first. Default 0. */
  readonly after?: number;
  /** How many requests go wrong, then the fault is spent. Default 1; Infinity never ends. */
  readonly times?: number;
}

/**
 * What goes wrong. "Effect" is what the operation does to the service; reading operations have none.
 *
 * | kind | effect | the client sees |
 * | --- | --- | --- |
 * | `refuse` | none | a reset before the body was read and before anything was looked at |
 * | `reset-before` | none | a reset after its request was read |
 * | `reset-after` | takes place | a reset |
 * | `hang-before` | none | no answer, ever |
 * | `hang-after` | takes place | no answer, ever |
 * | `delay` | takes place at once | the right answer, `delayMs` late |
 * | `late-commit` | takes place after `delayMs` | no answer, ever |
 * | `status` | only with `effect: true` | `status`, with `headers` and `body` (an object goes as JSON) |
 * | `truncated` | takes place | the right head, half the body, then the end of the connection |
 * | `malformed` | takes place | the right status, and a whole body that is half a JSON text |
 * | `empty` | takes place | the right status, no body |
 * | `oversized` | takes place | the right answer, padded with white space to `bytes` (default 32 MiB), of unannounced length |
 *
 * A request that the service would have refused has no effect under any of them. Nobody listening at all, as against
 * a reset, is `emulator.goOffline()`.
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

export type Fault = FaultTarget & Misbehaviour;
export type FaultKind = Misbehaviour["kind"];

/** Every kind, so that a test matrix can be generated from it. */
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

export interface PlantedFault {
  /** How many requests went wrong by it so far. */
  readonly hits: number;
  remove(): void;
}
