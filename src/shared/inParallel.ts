const AT_ONCE = 8;

/** Works on each item, eight at a time. Rejects as soon as the work does; the rest is still worked on. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  const next = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}
