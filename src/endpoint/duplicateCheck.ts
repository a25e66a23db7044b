import { WebhookError } from "../client";
import { UNKNOWN_VALUE } from "./arguments";
import { aboutResource, EndpointError, isUnauthorized, keyRefused } from "./errors";
import { keyOfInputs } from "./handover";
import { describeAlike } from "./identity";
import type { Run } from "./run";
import type { EndpointInputs } from "./types";

/** Looks for what a new registration would duplicate. */
export class DuplicateCheck {
  /** True once a look of the preview has failed. Checks run one after the other, so each would wait as long (engine rule 36). */
  #lookFailed = false;
  /** The names of the resources that have been checked, by their inputs: `create` gets only the inputs. */
  readonly #names = new Map<string, string[]>();
  /** The endpoints of resources that are replaced without a `diff` (engine rule 17). */
  readonly #replaced = new Set<string>();

  constructor(private readonly run: Run) {}

  noteName(inputs: Readonly<Record<string, unknown>>, name: unknown): void {
    if (typeof name !== "string") return;
    const key = keyOfInputs(inputs as unknown as EndpointInputs);
    this.#names.set(key, [...(this.#names.get(key) ?? []), name]);
  }

  /**
   * Warns about endpoints that already have this url and type, or refuses with `ifExists: "fail"`. Those that this run
   * replaces do not count. None is ever adopted because it is alike (engine rule 17). Which of them are this program's own
   * is unknown until `diff` has been called for their resources, so the message fits both.
   */
  async check(inputs: EndpointInputs): Promise<void> {
    const ids = await this.#alike(inputs);
    if (ids.length === 0) return;
    const names = this.#names.get(keyOfInputs(inputs)) ?? [];
    this.#report(inputs, ids, names.length > 1 ? names.shift() : names[0]);
  }

  /**
   * Checks before anything is registered, and returns what is wrong. Best effort, because `create` checks again; but a refused
   * key should show in the preview.
   */
  async preview(news: Readonly<Record<string, unknown>>, name: unknown): Promise<string[]> {
    const { handover, ledger, witnesses } = this.run;
    if (news.url === UNKNOWN_VALUE || news.type === UNKNOWN_VALUE) return [];
    const inputs = news as unknown as EndpointInputs;
    if (handover.has(inputs)) return [];
    if (inputs.adoptId !== undefined) {
      ledger.note(inputs.adoptId, "wanted");
      return [];
    }
    if (this.#lookFailed) return [];
    try {
      if ((await this.#alike(inputs)).length === 0) return [];
      const own = typeof name === "string" ? await witnesses.recordedId(name) : undefined;
      if (own !== undefined) this.#replaced.add(own);
      const ids = await this.#alike(inputs);
      if (ids.length > 0 && !(await witnesses.mayKnow(inputs))) this.#report(inputs, ids, name);
    } catch (error) {
      if (error instanceof EndpointError) return [error.message];
      if (isUnauthorized(error)) return [keyRefused(error).message];
      if (!(error instanceof WebhookError)) throw error;
      this.#lookFailed = true;
    }
    return [];
  }

  async #alike(inputs: EndpointInputs): Promise<string[]> {
    const { ledger, service } = this.run;
    const ids = ledger.alikeSoFar(await service.baseline(), inputs);
    return ids.filter((id) => ledger.isKept(id) || (ledger.isUnclaimed(id) && !this.#replaced.has(id)));
  }

  #report(inputs: EndpointInputs, ids: readonly string[], name: unknown): void {
    const own = ids.some((id) => this.run.ledger.isKept(id));
    const { warning, refusal } = describeAlike(inputs, ids, { own });
    if (inputs.ifExists === "fail") throw new EndpointError("ENDPOINT_EXISTS", aboutResource(name, refusal));
    this.run.log.warn(aboutResource(name, warning));
  }
}
