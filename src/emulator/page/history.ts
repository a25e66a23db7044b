import { pageOf } from "./parts";
import type { ShownAttempt } from "./source";

/** The most event types that a filter offers. */
const MOST_TYPES = 50;

/** The attempts of one event at one endpoint, oldest first. */
export interface DeliveryHistory {
  readonly key: string;
  readonly attempts: readonly [ShownAttempt, ...ShownAttempt[]];
}

interface HistoryPage {
  /** The newest first. */
  readonly deliveries: readonly DeliveryHistory[];
  /** How many deliveries there are, and how many of them were selected. */
  readonly total: number;
  readonly selected: number;
  readonly page: number;
  readonly pages: number;
}

interface HistoryQuery {
  readonly page: number;
  readonly size: number;
  /** Default: every delivery. */
  readonly matches?: ((delivery: DeliveryHistory) => boolean) | undefined;
}

/** Groups attempts into deliveries. It reads each entry of a log only once, so that a full log stays quick to show. */
export class History {
  #source: readonly ShownAttempt[] = [];
  #read = 0;
  #byKey = new Map<string, [ShownAttempt, ...ShownAttempt[]]>();
  #deliveries: DeliveryHistory[] = [];
  #types = new Set<string>();

  /** The event types of the last log that was read, in alphabetical order. */
  get types(): readonly string[] {
    return [...this.#types].toSorted();
  }

  /** Returns a page of deliveries. Pages count from 1; a page out of range is the nearest one. */
  page(
    { logged, open }: { readonly logged: readonly ShownAttempt[]; readonly open: Iterable<ShownAttempt> },
    { page, size, matches }: HistoryQuery,
  ): HistoryPage {
    this.#readNew(logged);
    const waiting = new Map<string, [ShownAttempt, ...ShownAttempt[]]>();
    for (const attempt of open) append(waiting, attempt);
    const fresh = [...waiting]
      .filter(([key]) => !this.#byKey.has(key))
      .map(([key, attempts]) => ({ key, attempts }));

    const all = [...this.#deliveries, ...fresh];
    const whole = ({ key, attempts }: DeliveryHistory): DeliveryHistory =>
      this.#byKey.has(key) && waiting.has(key)
        ? { key, attempts: [...attempts, ...(waiting.get(key) ?? [])] }
        : { key, attempts };
    const selected = matches === undefined ? all : all.filter((delivery) => matches(whole(delivery)));
    const { items, ...numbers } = pageOf(selected, { page, size });
    return { deliveries: items.map(whole), total: all.length, selected: selected.length, ...numbers };
  }

  /** Reads the new entries, or all of them when the log has dropped its oldest ones or was cleared. */
  #readNew(logged: readonly ShownAttempt[]): void {
    if (logged !== this.#source) {
      this.#source = logged;
      this.#read = 0;
      this.#byKey = new Map();
      this.#deliveries = [];
      this.#types = new Set();
    }
    for (; this.#read < logged.length; this.#read += 1) {
      const attempt = logged[this.#read];
      if (attempt === undefined) continue;
      if (this.#types.size < MOST_TYPES) this.#types.add(attempt.type);
      const key = append(this.#byKey, attempt);
      const attempts = this.#byKey.get(key);
      if (attempts?.length === 1) this.#deliveries.push({ key, attempts });
    }
  }
}

/** Adds an attempt to its delivery, and returns the key of that. */
function append(byKey: Map<string, [ShownAttempt, ...ShownAttempt[]]>, attempt: ShownAttempt): string {
  const key = `${attempt.id}\n${attempt.endpointId}`;
  const attempts = byKey.get(key);
  if (attempts === undefined) byKey.set(key, [attempt]);
  else attempts.push(attempt);
  return key;
}
