import type { Endpoint, EndpointList } from "../client";
import { sleep } from "../client/clock";
import { describeUrl } from "../shared/url";
import type { Context } from "./context";
import { type Decision, decide, type Evidence, type Named, type Question, type Wanted } from "./decide";
import { refusalOf } from "./refusals";
import type { EndpointInputs } from "./state";
import { WORTH_A_LINE_MS } from "./time";

/** How long a registration without a response is looked for at least, in milliseconds since it was sent. By default, `timeoutSeconds`. */
const LEAST_LOOK_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

/** A decision that no wait can change, and the list that it is about. */
interface Conclusion {
  readonly decision: Decision;
  readonly list: EndpointList;
}

/** Searches the service's lists for what registrations without a response made: it asks and waits, and `decide` judges. */
export class RegistrationSearch {
  constructor(private readonly context: Context) {}

  /** Decides what a resource gets, as far as a list tells now. */
  async decideNow(inputs: EndpointInputs): Promise<Decision> {
    const { service } = this.context;
    const asked = [service.list(), this.evidence(inputs), this.#question(inputs)] as const;
    const [list, evidence, question] = await Promise.all(asked);
    return decide({ ...question, evidence, list });
  }

  /**
   * Decides what `create` gives a resource, and waits as `decideAfterWaiting` does. If that depends on a state that is not proven to be this
   * stack's, it decides once more: from memory alone, and without adopting.
   */
  async decideForCreate(inputs: EndpointInputs): Promise<Conclusion> {
    const { memory, graceMs, stack } = this.context;
    const conclusion = await this.decideAfterWaiting(inputs, await this.evidence(inputs));
    const { decision, list } = conclusion;
    const question = { list, graceMs, waitedMs: graceMs, isOwned: ({ id }: Named) => memory.holds(id) };
    const evidence = memory.pendingLike(inputs);
    const certain = decide({ ...question, wanted: inputs, evidence });
    const isStop = (each: Decision) => refusalOf(each, inputs) !== undefined;
    const isSame = !isStop(certain) && takenBy(certain) === takenBy(decision);
    if (isStop(decision) || isSame || (await stack.isProven(inputs))) return conclusion;
    // Nothing is adopted because of a state that may be another backend's.
    return { decision: decide({ ...question, wanted: { ...inputs, ifExists: "fail" }, evidence }), list };
  }

  /** Decides what a resource gets, and waits while a registration may still be made. */
  async decideAfterWaiting(wanted: Wanted, evidence: readonly Evidence[]): Promise<Conclusion> {
    const { clock, cancelled, service } = this.context;
    const question = await this.#question(wanted);
    const startedAt = clock.now();
    let list = await service.list();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const decision = decide({ ...question, evidence, list, waitedMs: clock.now() - startedAt });
      if (decision.kind !== "wait") return { decision, list };
      if (pauseMs === FIRST_PAUSE_MS) this.#say(wanted, decision.milliseconds);
      await sleep(Math.min(pauseMs, decision.milliseconds), { clock, signal: cancelled });
      // Fails if the run was cancelled.
      list = await service.listNow();
    }
  }

  /**
   * Looks for what a registration of this run has made, until its time is up. Returns undefined if none is certain, or the
   * run is cancelled.
   *
   * @param processSentAt on this process's clock
   */
  async lookFor(wanted: Wanted, fresh: Evidence, processSentAt: number): Promise<Endpoint | undefined> {
    const { clock, cancelled, service, timeoutMs } = this.context;
    const until = processSentAt + Math.max(timeoutMs, LEAST_LOOK_MS);
    const question = await this.#question(wanted);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      // None once the run is cancelled.
      const list = await service.listNow().catch(() => undefined);
      const decision = list && decide({ ...question, evidence: [fresh], list });
      if (decision && takenBy(decision)) return takenBy(decision);
      const leftMs = until - clock.now();
      if (decision?.kind === "doubt" || leftMs <= 0 || cancelled?.aborted) return undefined;
      if (pauseMs === FIRST_PAUSE_MS) this.#say(wanted, leftMs);
      await sleep(Math.min(pauseMs, leftMs), { clock, signal: cancelled });
    }
  }

  /** Returns whether a resource of the stack has an endpoint, as far as this run knows. */
  async readOwners(): Promise<Question["isOwned"]> {
    const { memory, origin } = this.context;
    const state = await this.context.stack.state();
    return (endpoint) => memory.holds(endpoint.id) || (state?.has(endpoint, origin) ?? false);
  }

  /** Returns what may have made an endpoint for a resource: pending resources and interrupted creations. */
  async evidence(inputs: EndpointInputs): Promise<Evidence[]> {
    const { memory, origin } = this.context;
    const state = await this.context.stack.state();
    const recorded = state?.evidence({ wanted: inputs, names: memory.namesOf(inputs), origin }) ?? [];
    const known = new Set(recorded.map(({ id }) => id));
    const noted = memory.pendingLike(inputs).filter(({ id }) => !known.has(id));
    return [...recorded.filter((each) => !memory.isClosed(each)), ...noted];
  }

  async #question(wanted: Wanted) {
    return { wanted, isOwned: await this.readOwners(), graceMs: this.context.graceMs };
  }

  #say({ url }: Wanted, milliseconds: number): void {
    if (milliseconds < WORTH_A_LINE_MS) return;
    const seconds = Math.ceil(milliseconds / 1000);
    this.context.log.info(
      `waiting up to ${seconds} s in case the registration of ${describeUrl(url)} completes late`,
    );
  }
}

function takenBy(decision: Decision): Endpoint | undefined {
  return decision.kind === "take" || decision.kind === "adopt" ? decision.endpoint : undefined;
}
