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

/** How a request fails. `FAULTS` says what each kind does. */
export type Misbehaviour =
  | { readonly kind: "refuse" | "reset-before" | "reset-after" | "hang-before" | "hang-after" }
  | { readonly kind: "truncated" | "malformed" | "empty" }
  | { readonly kind: "delay" | "late-commit"; readonly delayMs: number }
  /** `bytes`: how long the answer is. Default 32 MiB. */
  | { readonly kind: "oversized"; readonly bytes?: number }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: OutgoingHttpHeaders;
      /** A string is sent as it is, anything else as JSON. */
      readonly body?: unknown;
      /** Whether the operation takes effect all the same. Default false. */
      readonly effect?: boolean;
    };

/** Which requests fail, and how. */
export type Fault = FaultTarget & Misbehaviour;
/** The kind of a fault. */
export type FaultKind = Misbehaviour["kind"];

/** What a kind of fault does. */
export interface FaultDescription {
  /** Whether the operation takes effect. */
  readonly effect: boolean;
  /** What the client sees. */
  readonly client: string;
}

/**
 * What each kind of fault does. A request that the service would refuse
 * anyway never has an effect. To refuse connections altogether, call `emulator.goOffline()`.
 */
export const FAULTS: Readonly<Record<FaultKind, FaultDescription>> = {
  refuse: { effect: false, client: "a reset before the request is read" },
  "reset-before": { effect: false, client: "a reset after the request is read" },
  "reset-after": { effect: true, client: "a reset instead of the response" },
  "hang-before": { effect: false, client: "no response" },
  "hang-after": { effect: true, client: "no response" },
  delay: { effect: true, client: "the right response, late" },
  "late-commit": { effect: true, client: "no response, and the effect comes late" },
  status: { effect: false, client: "the status, headers and body of your choice" },
  truncated: { effect: true, client: "half of the body, then the connection closes" },
  malformed: { effect: true, client: "half of the JSON as a complete body" },
  empty: { effect: true, client: "the right status without a body" },
  oversized: { effect: true, client: "the right response, padded to 32 MiB" },
};

/** Every kind of fault. Useful for generating a test matrix. */
export const FAULT_KINDS = Object.keys(FAULTS) as readonly FaultKind[];
export const FAULT_OPERATIONS: readonly Fault["operation"][] = ["any", "register", "list", "get", "delete"];

export function takesEffect(fault: Fault | undefined): boolean {
  if (fault === undefined) return true;
  return fault.kind === "status" ? fault.effect === true : FAULTS[fault.kind].effect;
}

/** A fault that was planted. */
export interface PlantedFault {
  /** How many requests have failed so far. */
  readonly hits: number;
  /** Removes the fault. */
  remove(): void;
}

/** A fault that still applies. */
export interface Planted extends PlantedFault {
  /** Identifies the fault on the page. */
  readonly number: number;
  readonly fault: Fault;
  toSkip: number;
  left: number;
  hits: number;
}

/** The planted faults. A request meets the first one that matches and is not used up. */
export class Faults {
  planted: readonly Planted[] = [];
  #count = 0;

  plant(fault: Fault): PlantedFault {
    this.#count += 1;
    const planted: Planted = {
      number: this.#count,
      fault,
      toSkip: fault.after ?? 0,
      left: fault.times ?? 1,
      hits: 0,
      remove: () => {
        this.planted = this.planted.filter((each) => each !== planted);
      },
    };
    this.planted = [...this.planted, planted];
    return planted;
  }

  clear(): void {
    this.planted = [];
  }

  /** Returns the fault that a request meets, and counts the hit. */
  take(operation: Operation | null, id: string): Fault | undefined {
    for (const planted of this.planted) {
      const { fault } = planted;
      if (fault.operation !== "any" && fault.operation !== operation) continue;
      if (fault.id !== undefined && fault.id !== id) continue;
      if (planted.toSkip > 0) {
        planted.toSkip -= 1;
        continue;
      }
      planted.hits += 1;
      planted.left -= 1;
      if (planted.left <= 0) planted.remove();
      return fault;
    }
    return undefined;
  }
}
