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

/** Groups attempts into deliveries and returns one page of them. Pages count from 1; a page out of range is the nearest. */
export function historyPage(
  attempts: { readonly logged: readonly LoggedAttempt[]; readonly open: Iterable<OpenAttempt> },
  { page, size }: { page: number; size: number },
): HistoryPage {
  const groups = new Map<string, [ShownAttempt, ...ShownAttempt[]]>();
  const add = (attempt: ShownAttempt) => {
    const key = `${attempt.id}\n${attempt.endpointId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [attempt]);
    else group.push(attempt);
  };
  attempts.logged.forEach(add);
  for (const attempt of attempts.open) add(attempt);

  const pages = Math.max(1, Math.ceil(groups.size / size));
  const current = Math.min(Math.max(1, Math.trunc(page)), pages);
  const end = groups.size - (current - 1) * size;
  const deliveries = [...groups]
    .slice(Math.max(0, end - size), end)
    .reverse()
    .map(([key, group]) => ({ key, attempts: group }));
  return { deliveries, total: groups.size, page: current, pages };
}
