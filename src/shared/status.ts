/** The 4xx that say nothing about what was sent: wrong path, wrong method, too slow, too many. */
const UNRELATED_STATUSES: readonly number[] = [404, 405, 408, 429];

/** Returns whether a status says that a receiver refused a delivery for what it is. */
export function isRefusal(status: number | null | undefined): boolean {
  return status != null && status >= 400 && status < 500 && !UNRELATED_STATUSES.includes(status);
}

/** Returns whether a status says that a request succeeded. Without a response, there is no status. */
export function isSuccess(status: number | null | undefined): boolean {
  return status != null && status >= 200 && status < 300;
}
