import { type Endpoint, WebhookError, type WebhooksClient } from "../../client";
import { undefinedIfGone } from "../../client/errors";
import { countOf } from "../../shared/words";
import { CliError } from "../errors";
import { dataOf, type Entry } from "../inventory/inventory";
import type { Context } from "../run";

/** How many endpoints are deleted at once. */
const AT_ONCE = 8;
/** What concerns one endpoint, and does not stop the deletion of the others. */
const OF_ONE_ENDPOINT: readonly string[] = ["INVALID_ARGUMENT", "REJECTED", "SERVER_ERROR"];

type Reason = "not-confirmed" | "changed" | "failed" | "not-deleted";

/** Deletes endpoints, and reports what was deleted and what not, also after a failure or Ctrl-C. */
export class Removal {
  readonly #deleted: Entry[] = [];
  readonly #kept: Map<Entry, Reason>;
  #failure: WebhookError | undefined;

  constructor(
    private readonly context: Context,
    private readonly client: WebhooksClient,
    private readonly chosen: readonly Entry[],
  ) {
    this.#kept = new Map(chosen.map((entry) => [entry, "not-deleted"]));
  }

  /**
   * Deletes what may be deleted by a second look. Returns whether nothing was kept.
   *
   * @param again undefined: nobody agreed
   * @throws CliError `INTERRUPTED`, or WebhookError of the first endpoint that could not be deleted
   */
  async run(again: readonly Entry[] | undefined): Promise<boolean> {
    const present = new Map((again ?? []).map(({ endpoint }) => [endpoint.id, endpoint]));
    const waiting = this.chosen.filter((entry) => {
      const isSame = sameFacts(entry.endpoint, present.get(entry.endpoint.id));
      if (!isSame) this.#kept.set(entry, again === undefined ? "not-confirmed" : "changed");
      return isSame;
    });
    const { output, signal } = this.context;
    const removeNext = async (): Promise<void> => {
      while (!signal.aborted) {
        const entry = waiting.shift();
        if (entry === undefined) return;
        await this.#remove(entry);
        if (this.#failure !== undefined && !OF_ONE_ENDPOINT.includes(this.#failure.code)) return;
      }
    };
    await output.during(
      () => `Deleting: ${this.#deleted.length} of ${countOf(this.chosen.length, "endpoint")} deleted…`,
      Promise.all(Array.from({ length: AT_ONCE }, removeNext)),
    );
    return this.#report();
  }

  async #remove(entry: Entry): Promise<void> {
    const { id } = entry.endpoint;
    try {
      await this.client.delete(id).catch(undefinedIfGone);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      if (this.#failure === undefined || !OF_ONE_ENDPOINT.includes(error.code)) this.#failure = error;
      this.#kept.set(entry, "failed");
      return;
    }
    this.#kept.delete(entry);
    this.#deleted.push(entry);
    if (!this.context.output.json) this.context.output.line(`Deleted ${id}`);
  }

  #report(): boolean {
    const { output, signal } = this.context;
    const deleted = this.#deleted.map(dataOf);
    const kept = [...this.#kept].map(([entry, reason]) => ({ ...dataOf(entry), reason }));
    const isInterrupted = signal.aborted && kept.length > 0;
    const counts = `${countOf(deleted.length, "endpoint")} deleted, ${kept.length} kept`;
    const error = isInterrupted
      ? new CliError("INTERRUPTED", `Ctrl-C ended the command: ${counts}`)
      : this.#failure;
    const told = error && { error: { code: error.code, message: error.reason } };
    output.data({ deleted, kept, ...told }, () => {
      if (this.chosen.length === 0) output.note("There is nothing to delete.");
      else output.line(`${counts}.`);
    });
    for (const [{ endpoint }, reason] of this.#kept)
      if (reason === "changed")
        output.warn(`${endpoint.id} was kept: it has changed, or something has it now`);
    if (error !== undefined) throw error;
    return kept.length === 0;
  }
}

/** Returns whether an endpoint is still what was shown: an id may be used again. */
function sameFacts(a: Endpoint, b: Endpoint | undefined): boolean {
  return a.url === b?.url && a.type === b.type && a.createdAt === b.createdAt;
}
