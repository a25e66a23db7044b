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

/** A delivery that later attempts join. */
interface GrowingDelivery extends DeliveryHistory {
  readonly attempts: [ShownAttempt, ...ShownAttempt[]];
}

/** Groups attempts into deliveries. It reads each entry of a log only once, so that a full log stays quick to show. */
export class History {
  #source: readonly ShownAttempt[] = [];
  #read = 0;
  #deliveries = new Map<string, GrowingDelivery>();
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
    const known = this.#deliveries;
    const waiting = new Map<string, GrowingDelivery>();
    for (const attempt of open) append(waiting, attempt);
    const fresh = [...waiting.values()].filter(({ key }) => !known.has(key));

    const all: DeliveryHistory[] = [...known.values(), ...fresh];
    const whole = (delivery: DeliveryHistory): DeliveryHistory => {
      const { key, attempts } = delivery;
      const later = known.has(key) ? waiting.get(key) : undefined;
      return later === undefined ? delivery : { key, attempts: [...attempts, ...later.attempts] };
    };
    const selected = matches === undefined ? all : all.filter((delivery) => matches(whole(delivery)));
    const { items, ...numbers } = pageOf(selected, { page, size });
    return { deliveries: items.map(whole), total: all.length, selected: selected.length, ...numbers };
  }

  /** Reads the new entries, or all of them when the log has dropped its oldest ones or was cleared. */
  #readNew(logged: readonly ShownAttempt[]): void {
    if (logged !== this.#source) {
      this.#source = logged;
      this.#read = 0;
      this.#deliveries = new Map();
      this.#types = new Set();
    }
    for (const attempt of logged.slice(this.#read)) {
      if (this.#types.size < MOST_TYPES) this.#types.add(attempt.type);
      append(this.#deliveries, attempt);
    }
    this.#read = logged.length;
  }
}

/** Adds an attempt to its delivery. */
function append(deliveries: Map<string, GrowingDelivery>, attempt: ShownAttempt): void {
  const key = `${attempt.id}\n${attempt.endpointId}`;
  const delivery = deliveries.get(key);
  if (delivery === undefined) deliveries.set(key, { key, attempts: [attempt] });
  else delivery.attempts.push(attempt);
}
