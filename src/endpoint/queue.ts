import { type Identity, keyOf } from "./identity";

/** Runs work for equal endpoints one after the other, so that what one registration made is never taken for another's. */
export class Queue {
  readonly #last = new Map<string, Promise<unknown>>();

  add<T>(identity: Identity, work: () => Promise<T>): Promise<T> {
    const key = keyOf(identity);
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work, work);
    this.#last.set(
      key,
      turn.catch(() => {}),
    );
    return turn;
  }
}
