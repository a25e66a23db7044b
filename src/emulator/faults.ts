/** The operations of the service's API. */
export type Operation = "register" | "list" | "get" | "delete";
export const FAULT_OPERATIONS: readonly Fault["operation"][] = ["any", "register", "list", "get", "delete"];

/**
 * What each kind of fault does: whether the operation takes effect, and what the client sees. A request that the service would refuse
 * anyway never has an effect.
 */
export const FAULTS = {
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
} satisfies Record<string, { readonly effect: boolean; readonly client: string }>;

/** The kind of a fault. */
export type FaultKind = keyof typeof FAULTS;
/** Every kind of fault. Useful for generating a test matrix. */
export const FAULT_KINDS = Object.keys(FAULTS) as readonly FaultKind[];

/** Which requests fail, and how. */
export interface Fault {
  /** The operation that fails, or every one. */
  readonly operation: Operation | "any";
  /** Only requests for this endpoint. Applies to get and delete. */
  readonly id?: string;
  /** How many matching requests to let through first. Default 0. */
  readonly after?: number;
  /** How many requests fail before the fault is used up. Default 1. Infinity never ends. */
  readonly times?: number;
  /** How they fail. docs/emulator.md says what each kind does. To refuse connections altogether, call `goOffline()`. */
  readonly kind: FaultKind;
  /** Whether the operation takes effect all the same, for `status`. Default false. */
  readonly effect?: boolean;
  /** For `delay` and `late-commit`, in milliseconds. Default 1,000. */
  readonly delayMs?: number;
  /** For `status`. Default 503. */
  readonly status?: number;
  /** For `status`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For `status`. A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
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
  readonly fault: Fault & { readonly status: number; readonly delayMs: number };
  toSkip: number;
  left: number;
  hits: number;
}

/** The planted faults. A request meets the first one that matches and is not used up. */
export class Faults {
  /** By a number that identifies the fault on the page. */
  readonly planted = new Map<number, Planted>();
  #count = 0;

  /** @throws Error for an operation or a kind that does not exist, such as a misspelt one of a form */
  plant(fault: Fault): PlantedFault {
    if (!FAULT_OPERATIONS.includes(fault.operation) || !FAULT_KINDS.includes(fault.kind))
      throw new Error(
        `Cannot plant a fault: its operation must be one of ${FAULT_OPERATIONS.join(", ")}, and its kind one of ${FAULT_KINDS.join(", ")}.`,
      );
    const number = ++this.#count;
    const planted: Planted = {
      fault: { status: 503, delayMs: 1_000, ...fault },
      toSkip: fault.after ?? 0,
      left: fault.times ?? 1,
      hits: 0,
      remove: () => void this.planted.delete(number),
    };
    this.planted.set(number, planted);
    return planted;
  }

  /** Returns the fault that a request meets, and counts the hit. */
  take(operation: Operation | null, id: string): Planted["fault"] | undefined {
    for (const planted of this.planted.values()) {
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
