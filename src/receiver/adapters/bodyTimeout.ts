const DEFAULT_BODY_TIMEOUT_MS = 10_000;
/** The longest delay of `setTimeout`. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export interface BodyTimeoutOptions {
  /** How long a body may take to arrive, in milliseconds. Default: 10,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

/** Returns the timeout of an adapter. @throws RangeError */
export function bodyTimeoutOf(
  adapter: string,
  { bodyTimeoutMs = DEFAULT_BODY_TIMEOUT_MS }: BodyTimeoutOptions,
): number {
  if (Number.isSafeInteger(bodyTimeoutMs) && bodyTimeoutMs > 0 && bodyTimeoutMs <= LONGEST_TIMEOUT_MS)
    return bodyTimeoutMs;
  throw new RangeError(
    `${adapter}: bodyTimeoutMs must be an integer from 1 to ${LONGEST_TIMEOUT_MS}; got ${String(bodyTimeoutMs)}.`,
  );
}
