/** Returns whether a status says that a request succeeded. Without a response, there is no status. */
export function isSuccess(status: number | null | undefined): boolean {
  return status != null && status >= 200 && status < 300;
}
