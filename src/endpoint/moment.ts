/** A time with its zone, at its end. */
const zoned = /(Z|GMT|UTC|[+-]\d\d:?\d\d)$/i;

/**
 * A timestamp of the service in milliseconds since 1970; NaN for one that cannot be read. One without a zone cannot: the
 * service says whose time it is, or nobody knows.
 */
export function momentOf(timestamp: string | null | undefined): number {
  return timestamp && zoned.test(timestamp.trim()) ? Date.parse(timestamp) : Number.NaN;
}
