import type { Endpoint, EndpointList } from "../client";
import { type Clock, sleep } from "../client/clock";
import type { Origin } from "../shared/permanent";
import { describeUrl } from "../shared/url";
import { type Decision, decide, type Evidence, type Question, type Wanted } from "./decide";
import type { EngineLog } from "./engine";
import { runCancelled } from "./errors";
import type { Memory } from "./memory";
import type { Service } from "./service";
import type { Stack } from "./stack";

/** How long a registration without an answer is looked for at least, in milliseconds since it was sent. */
const LEAST_LOOK_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;
/** How long a wait must be to be worth a line, in milliseconds. */
const WORTH_A_LINE_MS = 1_000;

interface UnansweredSources {
  readonly memory: Memory;
  readonly service: Service;
  readonly origin: Origin;
  readonly stack: Pick<Stack, "state">;
  readonly clock: Clock;
  readonly cancelled: AbortSignal | undefined;
  readonly log: EngineLog;
  readonly timeoutMs: number;
  readonly patienceMs: number;
}

/** A decision that no wait can change. */
export type Settled = Exclude<Decision, { kind: "wait" }>;

/** What registrations without an answer made: their evidence, and the waits for it. */
export class Unanswered {
  constructor(private readonly run: UnansweredSources) {}

  /** Decides what a resource gets, as far as a list tells now. @param names of the resources that want it */
  async look(wanted: Wanted, names: readonly string[]): Promise<Decision> {
    const [evidence, isHeld] = [await this.#evidence(wanted, names), await this.holder()];
    return decide({ ...this.#question(wanted, isHeld), evidence, list: await this.run.service.list() });
  }

  /** Decides what a resource gets, and waits while a registration may still be made. @param names of the resources that want it */
  async settle(wanted: Wanted, names: readonly string[]): Promise<Settled> {
    const evidence = await this.#evidence(wanted, names);
    const question = this.#question(wanted, await this.holder());
    return this.#wait(wanted, (list, waitedMs) => decide({ ...question, evidence, list, waitedMs }));
  }

  /** The same for a pending resource itself. Other registrations without an answer may explain endpoints that it did not make. */
  async settlePending(wanted: Wanted, own: Evidence): Promise<Settled> {
    const others = await this.#evidence(wanted, [], own);
    const question = this.#question(wanted, await this.holder());
    return this.#wait(wanted, (list, waitedMs) => {
      const together = decide({ ...question, evidence: [own, ...others], list, waitedMs });
      const isAboutOwn = together.kind === "take" ? together.by === own : together.kind === "doubt";
      return isAboutOwn ? together : decide({ ...question, evidence: [own], list, waitedMs });
    });
  }

  /**
   * Looks for what a registration of this run has made, until `timeoutSeconds` after it was sent. Returns undefined if no list shows
   * it, or the run is cancelled.
   *
   * @param sentAt on this process's clock
   */
  async lookFor(wanted: Wanted, fresh: Evidence, sentAt: number): Promise<Endpoint | undefined> {
    const { clock, cancelled, service, timeoutMs } = this.run;
    const until = sentAt + Math.max(timeoutMs, LEAST_LOOK_MS);
    const question = this.#question(wanted, await this.holder());
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const list = await service.listNow().catch(() => undefined);
      const decision = list && decide({ ...question, evidence: [fresh], list });
      if (decision?.kind === "take") return decision.endpoint;
      const leftMs = until - clock.now();
      if (decision?.kind === "doubt" || leftMs <= 0 || cancelled?.aborted) return undefined;
      if (pauseMs === FIRST_PAUSE_MS) this.#say(wanted, leftMs);
      await sleep(Math.min(pauseMs, leftMs), { clock, signal: cancelled });
    }
  }

  /** Returns whether a resource of the stack has an endpoint, as far as this run knows. */
  async holder(): Promise<Question["isHeld"]> {
    const { memory, origin } = this.run;
    const state = await this.run.stack.state();
    return (endpoint) => memory.holds(endpoint.id) || (state?.has(endpoint, origin) ?? false);
  }

  async #evidence(wanted: Wanted, names: readonly string[], except?: Evidence): Promise<Evidence[]> {
    const { memory, origin } = this.run;
    const state = await this.run.stack.state();
    const recorded = state?.evidence({ wanted, names, origin }) ?? [];
    const known = new Set(recorded.map(({ id }) => id));
    const met = memory.pendingLike(wanted).filter(({ id }) => !known.has(id));
    return [...recorded, ...met].filter(({ id }) => id !== except?.id && !memory.has(id, "settled"));
  }

  #question(wanted: Wanted, isHeld: Question["isHeld"]) {
    return { wanted, isHeld, patienceMs: this.run.patienceMs };
  }

  async #wait(
    wanted: Wanted,
    decideNow: (list: EndpointList, waitedMs: number) => Decision,
  ): Promise<Settled> {
    const { clock, cancelled, service } = this.run;
    const startedAt = clock.now();
    let list = await service.list();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const decision = decideNow(list, clock.now() - startedAt);
      if (decision.kind !== "wait") return decision;
      if (pauseMs === FIRST_PAUSE_MS) this.#say(wanted, decision.milliseconds);
      const how = await sleep(Math.min(pauseMs, decision.milliseconds), { clock, signal: cancelled });
      if (how === "aborted") throw runCancelled();
      list = await service.listNow();
    }
  }

  #say({ url }: Wanted, milliseconds: number): void {
    if (milliseconds < WORTH_A_LINE_MS) return;
    const seconds = Math.ceil(milliseconds / 1000);
    this.run.log.info(
      `waiting up to ${seconds} s in case the registration of ${describeUrl(url)} completes late`,
    );
  }
}
