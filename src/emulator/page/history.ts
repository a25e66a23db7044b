import type { LoggedAttempt, OpenAttempt } from "../deliveries/event";

/** An attempt with its result, or without one while the receiver has not answered. */
export type ShownAttempt = OpenAttempt & Partial<LoggedAttempt>;

/** The attempts of one event at one endpoint, oldest first. */
export interface DeliveryHistory {
  readonly key: string;
  readonly attempts: readonly [ShownAttempt, ...ShownAttempt[]];
}

export interface HistoryPage {
  /** The newest first. */
  readonly deliveries: readonly DeliveryHistory[];
  readonly total: number;
  readonly page: number;
  readonly pages: number;
}

/** Groups attempts into deliveries. It reads each entry of a log only once, so that a full log stays quick to show. */
export class History {
  #source: readonly LoggedAttempt[] = [];
  #read = 0;
  #byKey = new Map<string, [LoggedAttempt, ...LoggedAttempt[]]>();
  #deliveries: DeliveryHistory[] = [];

  /** Returns a page of deliveries. Pages count from 1; a page out of range is the nearest one. */
  page(
    { logged, open }: { readonly logged: readonly LoggedAttempt[]; readonly open: Iterable<OpenAttempt> },
    { page, size }: { readonly page: number; readonly size: number },
  ): HistoryPage {
    this.#readNew(logged);
    const waiting = new Map<string, [OpenAttempt, ...OpenAttempt[]]>();
    for (const attempt of open) append(waiting, attempt);
    const fresh = [...waiting]
      .filter(([key]) => !this.#byKey.has(key))
      .map(([key, attempts]) => ({ key, attempts }));

    const total = this.#deliveries.length + fresh.length;
    const pages = Math.max(1, Math.ceil(total / size));
    const current = Math.min(Math.max(1, Math.trunc(page)), pages);
    const end = total - (current - 1) * size;
    const deliveries = [...this.#deliveries, ...fresh]
      .slice(Math.max(0, end - size), end)
      .reverse()
      .map(({ key, attempts }): DeliveryHistory => {
        if (!this.#byKey.has(key)) return { key, attempts };
        return { key, attempts: [...attempts, ...(waiting.get(key) ?? [])] };
      });
    return { deliveries, total, page: current, pages };
  }

  /** Reads the new entries, or all of them when the log has dropped its oldest ones or was cleared. */
  #readNew(logged: readonly LoggedAttempt[]): void {
    if (logged !== this.#source) {
      this.#source = logged;
      this.#read = 0;
      this.#byKey = new Map();
      this.#deliveries = [];
    }
    for (; this.#read < logged.length; this.#read += 1) {
      const attempt = logged[this.#read];
      if (attempt === undefined) continue;
      const key = append(this.#byKey, attempt);
      const attempts = this.#byKey.get(key);
      if (attempts?.length === 1) this.#deliveries.push({ key, attempts });
    }
  }
}

/** Adds an attempt to its delivery, and returns the key of that. */
function append<Attempt extends OpenAttempt>(
  byKey: Map<string, [Attempt, ...Attempt[]]>,
  attempt: Attempt,
): string {
  const key = `${attempt.id}\n${attempt.endpointId}`;
  const attempts = byKey.get(key);
  if (attempts === undefined) byKey.set(key, [attempt]);
  else attempts.push(attempt);
  return key;
}
