import { type Endpoint, type EndpointList, WebhookError } from "../client";
import { sleep } from "../client/clock";
import { EndpointError } from "./errors";
import type { Identity } from "./identity";
import type { Run } from "./run";
import { type Decision, decide, isMadeInTime } from "./settlement";
import type { UnansweredState } from "./state";
import type { UnansweredRegistration } from "./types";
import { describeUrl } from "./url";

/** The pauses between two lists, in milliseconds: each is twice as long as the one before. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

/** Finds out what came of registrations that got no answer. */
export class Settler {
  constructor(private readonly run: Run) {}

  /** Settles a registration for `read`: returns its endpoint, or undefined when it never happened. */
  recover(id: string, state: UnansweredState): Promise<Endpoint | undefined> {
    return this.run.queue.add(state, async () => {
      const found = await this.settle(id, state, state.pending);
      return found && this.run.ledger.noteOurs(found, "recovered");
    });
  }

  /**
   * Settles a registration for `delete`: deletes its endpoint, or returns false when there is none to delete. An endpoint
   * that was made too late is spared, because another process may have registered it instead.
   */
  discard(id: string, state: UnansweredState): Promise<boolean> {
    const { ledger, queue, service } = this.run;
    return queue.add(state, async () => {
      if (ledger.has(id, "settled")) return true;
      const found = await this.settle(id, state, state.pending);
      if (!found || !isMadeInTime(found, state.pending, this.run.patienceMs)) return false;
      ledger.noteOurs(found, "owned");
      await service.delete(found.id);
      return true;
    });
  }

  /**
   * Returns the endpoint that a registration made, or undefined when it never happened. Waits as long as it may still
   * happen. Call it within the queue.
   *
   * @throws EndpointError `STILL_PENDING` when the service's list is partial
   */
  async settle(
    provisionalId: string,
    identity: Identity,
    registration: UnansweredRegistration,
  ): Promise<Endpoint | undefined> {
    const { clock, ledger, log, service } = this.run;
    let decision = this.#decide(identity, registration, await service.list());
    if (decision.kind === "wait") {
      const seconds = Math.ceil(decision.milliseconds / 1000);
      log.info(
        `waiting up to ${seconds} s in case the registration of ${describeUrl(identity.url)} completes late`,
      );
      decision = await this.watch(identity, registration, clock.date() + decision.milliseconds);
    }
    if (decision.kind === "unknowable") {
      throw new EndpointError(
        "STILL_PENDING",
        `cannot tell whether the registration of ${describeUrl(identity.url)} was made: the service lists only a part of its endpoints. ` +
          "It stays pending. Look for the endpoint at the service. If it is there, set adoptId to its id. If not, run " +
          "`pulumi state delete` for this resource.",
      );
    }
    ledger.note(provisionalId, "settled");
    return decision.kind === "found" ? decision.endpoint : undefined;
  }

  /**
   * Lists until the registration's endpoint shows or the time is over, and returns the last decision. Until then a list
   * that fails is skipped.
   *
   * @throws WebhookError when the last list fails
   */
  async watch(identity: Identity, registration: UnansweredRegistration, until: number): Promise<Decision> {
    const { clock, service } = this.run;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const leftMs = until - clock.date();
      try {
        const decision = this.#decide(identity, registration, await service.list());
        if (decision.kind === "found" || leftMs <= 0) return decision;
      } catch (error) {
        if (!(error instanceof WebhookError) || leftMs <= 0) throw error;
      }
      await sleep(Math.min(pauseMs, leftMs), { clock, signal: undefined });
    }
  }

  #decide(identity: Identity, registration: UnansweredRegistration, list: EndpointList): Decision {
    const mayBeLost = (id: string) => this.run.ledger.mayBeLost(id);
    return decide(identity, registration, list, { patienceMs: this.run.patienceMs, mayBeLost });
  }
}
