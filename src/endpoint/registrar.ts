import type { Endpoint, EndpointList } from "../client";
import type { Entry } from "../settlement/entry";
import { isProvisional, keyOf } from "../settlement/identity";
import type { PendingHere, Settlement } from "../settlement/settlement";
import type { Turns } from "../settlement/turns";
import { describeSpared } from "../settlement/words";
import { describeUrl } from "../shared/url";
import { type AdoptionSources, adopt } from "./adoption";
import { conclusionOf, inDoubt, notRegistered } from "./conclusion";
import type { DuplicateCheck } from "./duplicateCheck";
import { EndpointError, PendingError, runCancelled } from "./errors";
import type { Replaced } from "./handover";
import { type PendingState, stateOf } from "./state";
import type { EndpointInputs } from "./types";

interface RegistrarSources extends AdoptionSources {
  readonly settlement: Settlement;
  readonly turns: Turns;
  readonly duplicates: DuplicateCheck;
}

/**
 * Gives each resource its endpoint, once: takes over what an interrupted run registered for it, adopts what the user named, or
 * registers. What stays pending goes into the state under a provisional id, and a later run settles it. Nothing is sent again on a
 * guess.
 */
export class Registrar {
  constructor(private readonly run: RegistrarSources) {}

  /**
   * @param replaced the resource that this one replaces
   * @throws PendingError when it was sent and nothing shows whether it was made
   */
  create(inputs: EndpointInputs, replaced: Replaced | undefined): Promise<Endpoint> {
    const { adoptId } = inputs;
    // Once the resource has an endpoint, adoptId has no effect.
    const adopts = adoptId !== undefined && !hasEndpoint(replaced);
    const { ledger, settlement } = this.run;
    return settlement.announced(inputs, (entry) =>
      this.inTurn(inputs, async () => {
        const pending = replaced?.wantsSame ? replaced.pending : undefined;
        const takes = { entry, replaced: pending };
        const adopted = adopts ? await adopt(adoptId, inputs, takes, this.run) : undefined;
        if (adopted === undefined) return this.#register(inputs, replaced, entry);
        if (pending && settlement.mayHaveMade(pending, adopted)) ledger.note(pending.id, "settled");
        return adopted;
      }),
    );
  }

  /** Runs work in the turn of its url and type. @throws EndpointError `RUN_CANCELLED` */
  async inTurn<T>(identity: Pick<EndpointInputs, "url" | "type">, work: () => Promise<T>): Promise<T> {
    const result = await this.run.turns.take(identity, async () => ({ value: await work() }));
    if (result === "cancelled") throw runCancelled();
    return result.value;
  }

  /** Settles a pending registration for `read`: returns its endpoint, or undefined when it never happened. */
  settleForRead(id: string, state: PendingState): Promise<Endpoint | undefined> {
    const { ledger, takings } = this.run;
    return this.inTurn(state, async () => {
      // An equal resource, which failed with the same provisional id, has what it made.
      if (ledger.has(id, "settled")) return undefined;
      const outcome = await this.#settleAlone(id, state);
      if (outcome?.kind === "doubt") throw inDoubt(state, outcome);
      if (outcome === undefined) return undefined;
      ledger.note(id, "settled");
      takings.takeOver(outcome.by, undefined, outcome.endpoint);
      return ledger.noteOurs(outcome.endpoint, "recovered");
    });
  }

  /**
   * Settles a pending registration for `delete`, in its turn. Deletes its endpoint, unless another resource has it or it is in doubt.
   * Returns false if the registration made nothing.
   *
   * @param adoptId what the resource that replaces it is to adopt
   */
  async settleForDelete(id: string, state: PendingState, adoptId: string | undefined): Promise<boolean> {
    const { ledger, log, service, settlement, takings } = this.run;
    if (takings.hasTaken(id, state)) return true;
    // With `deleteBeforeReplace`, the resource that adopts what it made is still to come.
    const named = adoptId === undefined ? undefined : await service.find(adoptId);
    const isNamed = named !== undefined && keyOf(named) === keyOf(state);
    if (isNamed && settlement.mayHaveMade({ id, ...state.pending }, named)) return true;
    const outcome = await this.#settleAlone(id, state);
    if (outcome?.kind === "doubt") log.warn(describeSpared(state, outcome));
    if (outcome?.kind !== "found") return outcome !== undefined;
    await service.delete(outcome.endpoint.id);
    takings.forget(outcome.by);
    ledger.note(id, "settled");
    ledger.noteOurs(outcome.endpoint, "deleted");
    return true;
  }

  async #settleAlone(id: string, state: PendingState) {
    const record = { id, ...state.pending };
    return conclusionOf(await this.run.settlement.settle(state, { record, alone: true }), state);
  }

  async #register(
    inputs: EndpointInputs,
    replaced: Replaced | undefined,
    entry: Entry | undefined,
  ): Promise<Endpoint> {
    const { duplicates, ledger, service, settlement, takings } = this.run;
    const baseline = await service.baseline(takings.idsInBook(inputs));
    const found = (await this.#lookedAgain(inputs)) ?? (await this.#settled(inputs, replaced, entry));
    if (found) return ledger.noteOurs(found, "made");
    if (settlement.isUnsettled(inputs))
      throw new EndpointError(
        "REGISTRATION_WAITS",
        `${describeUrl(inputs.url)} was not registered: a registration with the same url and type is pending in this run. Run the same command again.`,
      );
    const except = await this.#madeByPending(replaced, inputs, baseline);
    await duplicates.check(inputs, { except, isReplacement: hasEndpoint(replaced) });
    const { url, type, ip } = inputs;
    const alsoThere = ledger.alikeSoFar(baseline, inputs);
    const registered = await settlement.register({ url, type, ip }, { entry, baseline, alsoThere });
    if ("pending" in registered) throw this.#pendingError(inputs, registered.pending);
    if ("existing" in registered) throw notRegistered(inputs, registered.existing);
    return ledger.noteOurs(registered.endpoint, "made");
  }

  /** Returns what a pending registration may have made for the resource that is replaced: `delete` settles it. */
  async #madeByPending(
    replaced: Replaced | undefined,
    inputs: EndpointInputs,
    list: EndpointList,
  ): Promise<string[]> {
    const { ledger, settlement } = this.run;
    if (replaced?.pending === undefined || ledger.has(replaced.id, "settled")) return [];
    return (await settlement.madeBy(replaced.pending, inputs, list)).map(({ id }) => id);
  }

  /**
   * Settles a registration of this run that is pending: a hook can make the engine call `create` again (engine rule 30).
   * The engine keeps it in the state only if `create` fails in the same way again. An equal resource gets the same error, and
   * so the same provisional id; the next run gives each its own endpoint.
   */
  async #lookedAgain(inputs: EndpointInputs): Promise<Endpoint | undefined> {
    const { ledger, settlement } = this.run;
    const pending = settlement.pendingHere(inputs);
    if (pending === undefined) return undefined;
    const endpoint = await settlement.lookAgain(inputs, pending).catch(() => undefined);
    if (endpoint === undefined) throw this.#pendingError(inputs, pending);
    ledger.note(pending.id, "settled");
    return endpoint;
  }

  /** Settles what earlier runs left pending. */
  async #settled(
    inputs: EndpointInputs,
    replaced: Replaced | undefined,
    entry: Entry | undefined,
  ): Promise<Endpoint | undefined> {
    const { ledger, log, settlement, takings } = this.run;
    const isWanted = replaced?.wantsSame === true && !ledger.has(replaced.id, "settled");
    const record = isWanted ? replaced.pending : undefined;
    try {
      const outcome = await settlement.settle(inputs, { record });
      const isAnother = inputs.ifExists === "register";
      const found = isAnother && outcome?.kind === "unknowable" ? undefined : conclusionOf(outcome, inputs);
      if (found?.kind === "doubt" && !isAnother)
        throw inDoubt(inputs, found, { isReplacement: hasEndpoint(replaced) });
      if (found?.kind === "doubt")
        log.warn(describeSpared(inputs, found, "Another endpoint is registered, as ifExists says"));
      if (record) ledger.note(record.id, "settled");
      if (record && isAnother && found?.kind !== "found") takings.giveUp(record, inputs);
      if (found?.kind !== "found") return undefined;
      const { endpoint, by } = found;
      takings.takeOver(by, entry, endpoint);
      log.info(
        `took over ${endpoint.id} (${describeUrl(inputs.url)}) that an interrupted run had registered`,
      );
      return endpoint;
    } catch (error) {
      settlement.leave(inputs);
      throw error;
    }
  }

  #pendingError(inputs: EndpointInputs, { id, before, error, ...sent }: PendingHere): Error {
    const times = { createdAt: null, updatedAt: null };
    const pending = { ...sent, before: [...before] };
    return new PendingError(id, { ...stateOf(times, inputs, this.run.origin), pending }, error);
  }
}

function hasEndpoint(replaced: Replaced | undefined): boolean {
  return replaced !== undefined && !isProvisional(replaced.id);
}
