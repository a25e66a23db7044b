import type { Endpoint } from "../client";
import type { Clock } from "../client/clock";
import type { Doubt } from "../settlement/decide";
import type { Entry } from "../settlement/entry";
import { type Identity, isProvisional } from "../settlement/identity";
import type { Outcome } from "../settlement/settle";
import type { PendingHere, Settlement } from "../settlement/settlement";
import type { Takings } from "../settlement/takings";
import { originHashes, traceOfEndpoint } from "../settlement/trace";
import type { Turns } from "../settlement/turns";
import { describeDoubt, describeUnknowable } from "../settlement/words";
import { describeUrl, sameUrl } from "../shared/url";
import type { DuplicateCheck } from "./duplicateCheck";
import type { EngineLog } from "./engine";
import { EndpointError, isGone, PendingError, runCancelled } from "./errors";
import type { Replaced } from "./handover";
import type { Ledger } from "./ledger";
import type { Origin } from "./origin";
import type { Service } from "./service";
import { stateOf } from "./state";
import type { EndpointInputs, EndpointState } from "./types";

export interface RegistrarSources {
  readonly service: Service;
  readonly settlement: Settlement;
  readonly takings: Takings;
  readonly turns: Turns;
  readonly ledger: Ledger;
  readonly duplicates: DuplicateCheck;
  readonly origin: Origin;
  readonly log: EngineLog;
  readonly clock: Clock;
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
    return this.#announcedInTurn(inputs, (entry) =>
      adopts ? this.#adopt(adoptId, inputs, replaced, entry) : this.#register(inputs, replaced, entry),
    );
  }

  /** Runs work in the turn of its url and type. @throws EndpointError `RUN_CANCELLED` */
  async inTurn<T>(identity: Pick<EndpointInputs, "url" | "type">, work: () => Promise<T>): Promise<T> {
    const result = await this.run.turns.take(identity, async () => ({ value: await work() }));
    if (result === "cancelled") throw runCancelled();
    return result.value;
  }

  /** Settles a pending registration for `read`: returns its endpoint, or undefined when it never happened. */
  settleForRead(id: string, state: PendingInState): Promise<Endpoint | undefined> {
    const { clock, ledger, settlement, takings } = this.run;
    return this.inTurn(state, async () => {
      const outcome = known(await settlement.settle(state, { id, ...state.pending }), state);
      if (outcome?.kind === "doubt") throw inDoubt(state, outcome);
      if (outcome === undefined) return undefined;
      ledger.note(id, "settled");
      takings.takeOver(outcome.by.entry, outcome.endpoint, clock.date());
      return ledger.noteOurs(outcome.endpoint, "recovered");
    });
  }

  /** Settles a pending registration for `delete`: deletes its endpoint, or returns false when there is none to delete. */
  settleForDelete(id: string, state: PendingInState): Promise<boolean> {
    const { ledger, log, service, settlement } = this.run;
    return this.inTurn(state, async () => {
      if (ledger.has(id, "settled")) return true;
      const outcome = known(await settlement.settle(state, { id, ...state.pending }), state);
      if (outcome?.kind === "doubt")
        log.warn(`${describeDoubt(state, outcome)} The resource is deleted, and these endpoints are left.`);
      if (outcome?.kind !== "found") return outcome !== undefined;
      await service.delete(outcome.endpoint.id);
      settlement.forget(outcome.by);
      ledger.note(id, "settled");
      ledger.noteOurs(outcome.endpoint, "owned");
      return true;
    });
  }

  async #register(
    inputs: EndpointInputs,
    replaced: Replaced | undefined,
    entry: Entry | undefined,
  ): Promise<Endpoint> {
    const { duplicates, ledger, service, settlement } = this.run;
    const baseline = await service.baseline();
    const found = (await this.#retried(inputs)) ?? (await this.#settled(inputs, replaced, entry));
    if (found) return ledger.noteOurs(found, "made");
    if (settlement.isUnsettled(inputs))
      throw new EndpointError(
        "REGISTRATION_WAITS",
        `${describeUrl(inputs.url)} was not registered: a registration with the same url and type is pending in this run. Run the same command again.`,
      );
    // Before a pending registration was sent, its own run checked.
    if (!replaced?.pending) await duplicates.check(inputs);
    const { url, type, ip } = inputs;
    const known = ledger.alikeSoFar(baseline, inputs);
    const registered = await settlement.register({ url, type, ip }, { entry, baseline, known });
    if ("pending" in registered) throw this.#pendingError(inputs, registered.pending);
    return ledger.noteOurs(registered.endpoint, "made");
  }

  /**
   * Settles a registration of this run that is pending: a hook can make the engine call `create` again (engine rule 30).
   * The engine keeps it in the state only if `create` fails in the same way again. An equal resource gets the same error, and
   * so the same provisional id; the next run gives each its own endpoint.
   */
  async #retried(inputs: EndpointInputs): Promise<Endpoint | undefined> {
    const { ledger, settlement } = this.run;
    const pending = settlement.pendingHere(inputs);
    if (pending === undefined) return undefined;
    const endpoint = await settlement.retry(inputs, pending).catch(() => undefined);
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
    const { clock, ledger, log, settlement, takings } = this.run;
    const isHandedOver = replaced?.pending !== undefined && !ledger.has(replaced.id, "settled");
    try {
      const outcome = await settlement.settle(inputs, isHandedOver ? replaced.pending : undefined);
      const isAnother = inputs.ifExists === "register";
      const found = isAnother && outcome?.kind === "unknowable" ? undefined : known(outcome, inputs);
      if (found?.kind === "doubt" && !isAnother)
        throw inDoubt(inputs, found, { isReplacement: hasEndpoint(replaced) });
      if (isHandedOver) ledger.note(replaced.id, "settled");
      if (found?.kind !== "found") return undefined;
      const { endpoint, by } = found;
      takings.takeOver(by.entry ?? entry, endpoint, clock.date());
      log.info(
        `took over ${endpoint.id} (${describeUrl(inputs.url)}) that an interrupted run had registered`,
      );
      return endpoint;
    } catch (error) {
      settlement.leave(inputs);
      throw error;
    }
  }

  #pendingError(inputs: EndpointInputs, { id, before, attemptedAt, complete, error }: PendingHere): Error {
    const times = { createdAt: null, updatedAt: null };
    const pending = { before: [...before], attemptedAt, complete };
    return new PendingError(id, { ...stateOf(times, inputs, this.run.origin), pending }, error);
  }

  /** Adopts the endpoint that the user named. Nothing changes at the service. */
  async #adopt(
    id: string,
    inputs: EndpointInputs,
    replaced: Replaced | undefined,
    entry: Entry | undefined,
  ): Promise<Endpoint> {
    const { ledger, log, origin, service, settlement, takings } = this.run;
    const endpoint = await service.get(id).catch((error: unknown) => {
      if (!isGone(error)) throw error;
      // Adopted before and deleted since, by this run or behind Pulumi's back: then the resource needs a new one.
      if (ledger.has(id, "deleted") || takings.hasHad(inputs, id)) return undefined;
      throw new EndpointError(
        "ADOPT_NOT_FOUND",
        `cannot adopt endpoint ${id}: the service has no endpoint with this id. Correct adoptId, or remove it to register a new one.`,
        { cause: error },
      );
    });
    if (endpoint === undefined) {
      log.warn(`endpoint ${id} in adoptId no longer exists, so a new one is registered. Remove adoptId.`);
      return this.#register(inputs, replaced, entry);
    }
    assertAsDeclared(endpoint, inputs);
    if (
      ledger.isClaimed(id) ||
      takings.isTakenBeside(endpoint, traceOfEndpoint(endpoint, originHashes(origin)))
    ) {
      throw new EndpointError(
        "ADOPT_TAKEN",
        `cannot adopt endpoint ${id}: another resource of this program already has it. Name it in only one of them.`,
      );
    }
    if (replaced?.pending && settlement.mayHaveMade(replaced.pending, endpoint))
      ledger.note(replaced.id, "settled");
    takings.adopt(entry, endpoint);
    return ledger.noteOurs(endpoint, "made");
  }

  #announcedInTurn<T>(inputs: EndpointInputs, work: (entry: Entry | undefined) => Promise<T>): Promise<T> {
    return this.run.settlement.announced(inputs, (entry) => this.inTurn(inputs, () => work(entry)));
  }
}

/** Returns what a settlement found, or what is in doubt; undefined when nothing was made. @throws EndpointError when that is not known */
function known(outcome: Outcome | undefined, wanted: Identity) {
  switch (outcome?.kind) {
    case "found":
    case "doubt":
      return outcome;
    case "unknowable":
      throw new EndpointError("STILL_PENDING", describeUnknowable(wanted));
    case "cancelled":
      throw runCancelled();
    default:
      return undefined;
  }
}

function inDoubt(wanted: Identity, doubt: Doubt, options?: { isReplacement: boolean }): EndpointError {
  return new EndpointError("REGISTRATION_IN_DOUBT", describeDoubt(wanted, doubt, options));
}

function hasEndpoint(replaced: Replaced | undefined): boolean {
  return replaced !== undefined && !isProvisional(replaced.id);
}

type PendingInState = EndpointState & Required<Pick<EndpointState, "pending">>;

function assertAsDeclared({ id, url, type }: Endpoint, inputs: EndpointInputs): void {
  const differing = [...(sameUrl(url, inputs.url) ? [] : ["url"]), ...(type === inputs.type ? [] : ["type"])];
  if (differing.length === 0) return;
  throw new EndpointError(
    "ADOPT_MISMATCH",
    `cannot adopt endpoint ${id}: its ${differing.join(" and ")} at the service ${differing.length === 1 ? "differs" : "differ"} ` +
      "from the declaration. Declare the endpoint as it is, adopt it, and change it afterwards; or remove adoptId to register a new one.",
  );
}
