/** Bounds the memory. A validation sends one genuine delivery for each secret. */
const MOST_IDS = 32;
/** How long a validation may take to send the broken delivery, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Creates the memory of a receiver for the validations that it has just passed. Each is followed by a delivery with the same id and a
 * broken signature (`validateReceiver`), which nobody needs to read about in a log. Only one for each id is expected, also if
 * somebody sends the genuine delivery again.
 */
export function validatedIds() {
  /** Until when the broken delivery is expected, by id; in the past once it has come. */
  const expected = new Map<string, number>();
  return {
    add(id: string): void {
      if (expected.has(id)) return;
      expected.set(id, performance.now() + LONGEST_WAIT_MS);
      const [oldest] = expected.keys();
      if (expected.size > MOST_IDS && oldest !== undefined) expected.delete(oldest);
    },
    /** Returns true once for each id. */
    expectsBroken(id: string): boolean {
      const ends = expected.get(id);
      if (ends === undefined) return false;
      expected.set(id, Number.NEGATIVE_INFINITY);
      return performance.now() < ends;
    },
  };
}
