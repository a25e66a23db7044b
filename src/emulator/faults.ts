/** The operations of the service's API. */
export type Operation = "register" | "list" | "get" | "delete";
export const FAULT_OPERATIONS: readonly (Operation | "any")[] = ["any", "register", "list", "get", "delete"];

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
export interface FaultOptions {
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

/** A fault of the emulator. */
export interface Fault {
  /** How many requests have failed so far. */
  readonly hits: number;
  /** Removes the fault. */
  remove(): void;
}

/** What the emulator keeps of a fault that still applies. */
interface FaultEntry extends Fault {
  readonly options: FaultOptions & { readonly status: number; readonly delayMs: number };
  toSkip: number;
  left: number;
  hits: number;
}

/** The faults that apply. A request meets the first one that matches and is not used up. */
export class Faults {
  /** By a number that identifies the fault on the page. */
  readonly entries = new Map<number, FaultEntry>();
  #count = 0;

  /** @throws Error for an operation or a kind that does not exist, such as a misspelt one of a form */
  add(options: FaultOptions): Fault {
    if (!FAULT_OPERATIONS.includes(options.operation) || !FAULT_KINDS.includes(options.kind))
      throw new Error(
        `Cannot add a fault: its operation must be one of ${FAULT_OPERATIONS.join(", ")}, and its kind one of ${FAULT_KINDS.join(", ")}.`,
      );
    const number = ++this.#count;
    const entry: FaultEntry = {
      options: { status: 503, delayMs: 1_000, ...options },
      toSkip: options.after ?? 0,
      left: options.times ?? 1,
      hits: 0,
      remove: () => void this.entries.delete(number),
    };
    this.entries.set(number, entry);
    return entry;
  }

  /** Returns the fault that a request meets, and counts the hit. */
  take(operation: Operation | null, id: string): FaultEntry["options"] | undefined {
    for (const entry of this.entries.values()) {
      const { options } = entry;
      if (options.operation !== "any" && options.operation !== operation) continue;
      if (options.id !== undefined && options.id !== id) continue;
      if (entry.toSkip > 0) {
        entry.toSkip -= 1;
        continue;
      }
      entry.hits += 1;
      entry.left -= 1;
      if (entry.left <= 0) entry.remove();
      return options;
    }
    return undefined;
  }
}
