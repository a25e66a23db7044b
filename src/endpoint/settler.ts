import { type Endpoint, WebhookError } from "../client";
import { sleep } from "../client/clock";
import { EndpointError, runCancelled } from "./errors";
import type { Identity } from "./identity";
import type { Run } from "./run";
import { type Decision, decide, isMadeInTime, type Policy } from "./settlement";
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
  settleForRead(id: string, state: UnansweredState): Promise<Endpoint | undefined> {
    const { ledger, queue } = this.run;
    return queue.add(state, async () => {
      const found = await this.settle(state, state.pending);
      ledger.note(id, "settled");
      return found && ledger.noteOurs(found, "recovered");
    });
  }

  /**
   * Settles a registration for `delete`: deletes its endpoint, or returns false when there is none to delete. An endpoint
   * that was made too late is spared, because another process may have registered it instead.
   */
  settleForDelete(id: string, state: UnansweredState): Promise<boolean> {
    const { ledger, patienceMs, queue, service, witnesses } = this.run;
    return queue.add(state, async () => {
      if (ledger.has(id, "settled")) return true;
      const found = await this.settle(state, state.pending);
      if (!found || !isMadeInTime(found, state.pending, patienceMs)) return false;
      // Another provider of this run may have taken it over (engine rule 34).
      const isTaken = (await witnesses.journal()).isMadeByThisRun(found.id);
      if (!isTaken) await service.delete(found.id);
      ledger.noteOurs(found, "owned");
      ledger.note(id, "settled");
      return true;
    });
  }

  /**
   * Returns the endpoint that a registration made, or undefined when it never happened. Waits as long as it may still
   * happen. Call it within the queue.
   *
   * @param ifAbsent what a person is to do who finds that there is no such endpoint
   * @throws EndpointError `STILL_PENDING` when the service's list is partial
   */
  async settle(
    identity: Identity,
    registration: UnansweredRegistration,
    { ifAbsent = "run `pulumi state delete` for this resource" } = {},
  ): Promise<Endpoint | undefined> {
    const { clock, log, patienceMs, service } = this.run;
    const policy = { patienceMs, mayBeLost: await this.mayBeLost() };
    let decision = decide(identity, registration, await service.list(), policy);
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
        `cannot tell whether the registration of ${describeUrl(identity.url)} succeeded, because the service lists only a part of its endpoints. ` +
          `It stays pending. Look for the endpoint at the service. If it is there, set adoptId to its id. If not, ${ifAbsent}.`,
      );
    }
    // What was still to wait for at the end of the wait counts as absent.
    return decision.kind === "found" ? decision.endpoint : undefined;
  }

  /**
   * Lists until the registration's endpoint shows or the time is over, and returns the last decision. Until then a list
   * that fails is skipped.
   *
   * @throws WebhookError when the last list fails
   * @throws EndpointError `RUN_CANCELLED`
   */
  async watch(identity: Identity, registration: UnansweredRegistration, until: number): Promise<Decision> {
    const { clock, engine, patienceMs, service } = this.run;
    const policy = { patienceMs, mayBeLost: await this.mayBeLost() };
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const leftMs = until - clock.date();
      try {
        const decision = decide(identity, registration, await service.list(), policy);
        if (decision.kind === "found" || leftMs <= 0) return decision;
      } catch (error) {
        if (!(error instanceof WebhookError) || leftMs <= 0) throw error;
      }
      const wait = await sleep(Math.min(pauseMs, leftMs), { clock, signal: engine.cancelled });
      // A wait that was cut short must not end as if nothing had come.
      if (wait === "aborted") throw runCancelled();
    }
  }

  /** Returns a test of an endpoint's id: whether neither a known resource nor another stack on this machine has it. */
  async mayBeLost(): Promise<Policy["mayBeLost"]> {
    const { ledger, witnesses } = this.run;
    const journal = await witnesses.journal();
    return (id) => ledger.mayBeLost(id) && !journal.isOfAnotherStack(id);
  }
}
