/** How many states are read, or endpoints deleted, at once. */
const AT_ONCE = 8;

/** Works on each item, eight at a time. Rejects as soon as the work does; the rest is still worked on. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = [...items];
  const next = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}
