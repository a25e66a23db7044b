/** @throws RangeError */
export function checkBodyTimeout(adapter: string, bodyTimeoutMs: number): void {
  if (Number.isSafeInteger(bodyTimeoutMs) && bodyTimeoutMs > 0 && bodyTimeoutMs < 2 ** 31) return;
  throw new RangeError(
    `${adapter}: bodyTimeoutMs must be a positive whole number; got ${String(bodyTimeoutMs)}.`,
  );
}
