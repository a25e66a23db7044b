import { randomUUID } from "node:crypto";
import { type Endpoint, type EndpointList, type Registration, WebhookRegistrationError } from "../../client";
import { foreign } from "../../shared/escape";
import { PENDING_PREFIX } from "../../shared/permanent";
import { describeUrl } from "../../shared/url";
import type { Context } from "../context";
import { PendingError } from "../errors";
import { evidenceOfPending, isFit } from "../facts/registrationEvidence";
import { storedSpelling } from "../facts/same";
import { endpointsLike, keyOf, type UrlAndType } from "../facts/urlAndType";
import type { Listing } from "../service";
import { type EndpointInputs, type EndpointState, type PendingState, recognitionOf, stateOf } from "../state";
import type { Conclusions } from "./conclude";
import { endpointOf, isStop } from "./decide";
import { askOtherStacks } from "./otherStacks";
import {
  adopts,
  describeDoubt,
  describeSpared,
  notMadeBeside,
  notRegistered,
  otherIpPending,
  refusalOf,
} from "./refusals";
import { otherSpellingWarning } from "./shownStoredUrl";

/** What a resource gets. */
interface Given {
  readonly endpoint: Endpoint;
  /** As the state records it; undefined for what no response of this run has told. */
  readonly registeredAt?: number | undefined;
}

/** The same as the state holds it. */
interface Created {
  readonly id: string;
  readonly outs: EndpointState;
}

/** Gives each resource its endpoint, once: takes over what an earlier registration made for it, adopts what `adoptId` or `ifExists` says, or registers. */
export class Registrar {
  /**
   * The last work for each url and type, in this process. `create`, `delete`, the look of `check` and the settling of a pending resource wait for it;
   * `diff` and a `read` of what is recorded do not.
   */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(
    private readonly context: Context,
    private readonly conclusions: Conclusions,
  ) {}

  /** @throws PendingError when it was sent and nothing proves whether it was made */
  create(inputs: EndpointInputs): Promise<Created> {
    return this.inTurn(inputs, async () => {
      const { declarations, log, registrations } = this.context;
      const earlier = registrations.failedLike(inputs);
      // What `adoptId` names does not depend on what an equal resource's registration made.
      const isNamed = inputs.adoptId !== undefined && !declarations.isSpent(inputs);
      const given =
        earlier === undefined || isNamed
          ? await this.#takeOrRegister(inputs)
          : await this.#lookAgain(inputs, earlier);
      const warning = otherSpellingWarning(inputs.url, given.endpoint, declarations);
      if (warning !== undefined) log.warn(warning);
      return this.#created(inputs, given);
    });
  }

  async #takeOrRegister(inputs: EndpointInputs): Promise<Given> {
    const { declarations, endpoints, graceMs, log, registrations } = this.context;
    const { decision, list, proof, whyWithoutState } = await this.conclusions.forCreate(inputs);
    const found = endpointOf(decision);
    const { taken, read } =
      decision.kind === "adopt"
        ? await askOtherStacks(decision.endpoint, this.context, proof)
        : { taken: undefined, read: "" };
    // Since the decision, a resource with nearly this url may have got it: its turn is another one.
    if (found && endpoints.isOurs(found, graceMs)) return this.#takeOrRegister(inputs);
    if (decision.kind === "take") {
      const { endpoint, by } = decision;
      registrations.close(by);
      const message = `took over ${foreign(endpoint.id)} (${describeUrl(inputs.url)}) that an earlier run had registered`;
      log.info(declarations.aboutResource(inputs, message));
      return { endpoint: endpoints.noteGiven(endpoint) };
    }
    if (decision.kind === "adopt") {
      const { endpoint } = decision;
      if (taken) throw taken;
      // Who names an endpoint knows it, but not who else may have it.
      if (inputs.adoptId !== endpoint.id || read !== "")
        log.info(declarations.aboutResource(inputs, adopts(endpoint) + read));
      // What else a pending registration may have made, its own `delete` looks for.
      for (const pending of registrations.pendingLike(inputs))
        if (isFit(endpoint, pending, graceMs)) registrations.close(pending);
      return { endpoint: endpoints.noteGiven(endpoint) };
    }
    if (isStop(decision)) throw refusalOf(decision, inputs, this.context, { whyWithoutState });
    if (decision.kind === "register" && decision.despite?.kind === "doubt")
      log.warn(
        `${describeDoubt(inputs, decision.despite)} Another endpoint is registered, as ifExists says.`,
      );
    else if (decision.kind === "register" && decision.mayLackEqual)
      log.warn(
        "the service lists only a part of its endpoints, or some that cannot be read, so nobody can tell whether one that is registered now exists already.",
      );
    // Those of this url, type and ip made nothing, or the user said to register another one. One of another ip, or of the url of before, stays
    // open: its own `delete` settles it.
    for (const pending of registrations.pendingLike(inputs))
      if (pending.ip === (inputs.ip ?? null)) registrations.close(pending);
    return this.#register(inputs, list);
  }

  /** Registers, and looks for what that made if it gets no response. @param list what was there before */
  async #register(inputs: EndpointInputs, list: Listing): Promise<Given> {
    const { clock, declarations, endpoints, graceMs, log, origin, registrations, service } = this.context;
    const { url, type, ip } = inputs;
    const there = list.endpoints.filter(({ id }) => !endpoints.isDeleted(id));
    const before = this.#idsBefore(inputs, list);
    let [processSentAt, serviceSentAt] = [clock.now(), service.time()];
    const noteSent = () => {
      [processSentAt, serviceSentAt] = [clock.now(), service.time()];
    };
    try {
      const registration = { url, type, ip } satisfies Record<keyof Registration, unknown>;
      const endpoint = await service.register(registration, noteSent);
      const { id } = endpoint;
      const isListed = list.rowsById.has(id) && !endpoints.isDeleted(id);
      // It was there if the list had it, or this run gave it; and what a partial list lacks, if a resource has or had it. What a complete list lacks
      // was not there: a service may use an id again.
      const wasThere =
        isListed || endpoints.isGiven(id) || (!list.complete && endpoints.isOurs(endpoint, graceMs));
      if (wasThere) throw notRegistered(inputs, endpoint);
      const registeredAt = service.time() ?? undefined;
      return { endpoint: endpoints.noteGiven(endpoint), registeredAt };
    } catch (error) {
      if (!(error instanceof WebhookRegistrationError)) throw error;
      if (error.outcome === "not-made") throw notMadeBeside(there, inputs, error);
      const pending = { before, attemptedAt: serviceSentAt };
      const state = { ...stateOf({ createdAt: null, updatedAt: null }, inputs, origin), pending };
      const failure = new PendingError(`${PENDING_PREFIX}${randomUUID()}`, state, error);
      // Until an operation would have ended, or less if it is in doubt: what is made later, within the grace period, the next command finds.
      const endpoint = await this.conclusions.lookFor(
        inputs,
        evidenceOfPending(failure.id, state),
        processSentAt,
      );
      if (endpoint === undefined) {
        registrations.noteFailed(inputs, failure);
        // It was registered in spite of its `adoptId`.
        declarations.noteSpent(inputs);
        throw failure;
      }
      const message = `found ${foreign(endpoint.id)} (${describeUrl(url)}), which the service registered without a usable response`;
      log.info(declarations.aboutResource(inputs, message));
      return { endpoint: endpoints.noteGiven(endpoint) };
    }
  }

  /**
   * Returns the ids that were listed before a registration: those of this url and type, whoever has them, and of rows that cannot be read. One
   * that this run has deleted may be used again.
   */
  #idsBefore(inputs: EndpointInputs, list: EndpointList): string[] {
    const { endpoints } = this.context;
    const ids = [...endpointsLike(list, inputs), ...list.unrecognized].map(({ id }) => id);
    return ids.filter((id) => !endpoints.isDeleted(id));
  }

  /**
   * Looks again for what a registration of this run made that got no response. It is this resource's, if a hook made the engine call `create`
   * again (engine rule 30), or that of an equal one: then the first that finds the endpoint has it. The engine keeps a resource as half-made
   * only if `create` fails in the same way again. So if nothing is found, it fails with the same error, and nothing more is registered. Once one
   * has found it, the next equal one registers.
   */
  async #lookAgain(inputs: EndpointInputs, earlier: PendingError): Promise<Given> {
    const { endpoints, registrations } = this.context;
    const evidence = evidenceOfPending(earlier.id, earlier.properties);
    if ((inputs.ip ?? null) !== earlier.properties.ip) throw otherIpPending(inputs);
    const endpoint = await this.conclusions.lookFor(inputs, evidence, undefined);
    if (endpoint === undefined) throw earlier;
    registrations.close(earlier);
    return { endpoint: endpoints.noteGiven(endpoint) };
  }

  #created(inputs: EndpointInputs, { endpoint, registeredAt }: Given): Created {
    const recognition = recognitionOf({ ...storedSpelling(inputs.url, endpoint.url), registeredAt });
    return { id: endpoint.id, outs: stateOf(endpoint, inputs, { ...this.context.origin, ...recognition }) };
  }

  /** Settles a pending resource for `read`: returns its endpoint, or undefined when the registration made none. */
  settleForRead(id: string, state: PendingState): Promise<Endpoint | undefined> {
    const { endpoints, registrations } = this.context;
    const own = registrations.notePending(id, state);
    return this.inTurn(state, async () => {
      // An equal resource, which failed with the same id, has what it made.
      if (registrations.isClosed(own)) return undefined;
      const { decision } = await this.conclusions.forPending(state, own);
      if (isStop(decision)) throw refusalOf(decision, state, this.context, { settledFor: "read" });
      registrations.close(own);
      if (decision.kind !== "take") return undefined;
      endpoints.noteHad(decision.endpoint.id, decision.endpoint);
      return decision.endpoint;
    });
  }

  /**
   * Settles a pending resource for `delete`: deletes its endpoint, unless it is in doubt or another resource is to have it. Fails where the list
   * cannot tell.
   */
  settleForDelete(id: string, state: PendingState): Promise<void> {
    const { endpoints, existence, graceMs, log, registrations } = this.context;
    const own = registrations.notePending(id, state);
    return this.inTurn(state, async () => {
      if (registrations.isClosed(own)) return;
      const { decision } = await this.conclusions.forPending(state, own);
      if (decision.kind === "doubt") log.warn(describeSpared(state, decision));
      else if (isStop(decision)) throw refusalOf(decision, state, this.context, { settledFor: "delete" });
      if (decision.kind === "take" && !endpoints.isSpared(decision.endpoint.id, decision.endpoint, graceMs)) {
        await existence.remove(decision.endpoint.id, decision.endpoint);
        endpoints.noteDeleted(decision.endpoint.id);
      }
      // Not before: a hook can make the engine call `delete` again if the deletion fails.
      registrations.close(own);
    });
  }

  /** Runs work after all that was handed in here before for the same url and type. */
  inTurn<T>(wanted: UrlAndType, work: () => Promise<T>): Promise<T> {
    const key = keyOf(wanted);
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(work, work);
    this.#turns.set(key, turn);
    return turn;
  }
}
