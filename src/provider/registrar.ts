import { randomUUID } from "node:crypto";
import { type Endpoint, type EndpointList, WebhookRegistrationError } from "../client";
import { undefinedIfGone } from "../client/errors";
import { PENDING_PREFIX } from "../shared/permanent";
import { describeUrl } from "../shared/url";
import { adopt } from "./adopt";
import type { Context } from "./context";
import { type Evidence, isFit } from "./decide";
import { PendingError } from "./errors";
import { equalIn, keyOf } from "./identity";
import {
  adopts,
  describeDoubt,
  describeSpared,
  notRegistered,
  otherIpPending,
  refusalOf,
  refusedBeside,
  stillPending,
} from "./refusals";
import type { RegistrationSearch } from "./registrationSearch";
import { evidenceOf } from "./stackState";
import { type EndpointInputs, type PendingState, stateOf } from "./state";
import { otherSpellingWarning } from "./storedUrl";

/** Gives each resource its endpoint, once: takes over what an earlier registration made for it, adopts what the user named, or registers. */
export class Registrar {
  /** What happens for each url and type: within a process, one thing after the other. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(
    private readonly context: Context,
    private readonly search: RegistrationSearch,
  ) {}

  /** @throws PendingError when it was sent and nothing proves whether it was made */
  create(inputs: EndpointInputs): Promise<Endpoint> {
    return this.inTurn(inputs, async () => {
      const { memory, stack } = this.context;
      const { adoptId } = inputs;
      // Before anything else: it does not matter to it what an equal resource's registration made.
      const isToAdopt =
        adoptId !== undefined && !((await stack.hasEndpointOf(inputs)) && (await stack.isProven(inputs)));
      const earlier = isToAdopt ? undefined : memory.pendingErrorLike(inputs);
      if (earlier !== undefined) return this.#lookAgain(inputs, earlier);
      const endpoint = isToAdopt ? await this.#adopt(adoptId, inputs) : await this.#takeOrRegister(inputs);
      const warning = otherSpellingWarning(inputs.url, endpoint, memory);
      if (warning !== undefined) this.context.log.warn(warning);
      return endpoint;
    });
  }

  /** Settles a pending resource for `read`: returns its endpoint, or undefined when the registration made none. */
  settleForRead(id: string, state: PendingState): Promise<Endpoint | undefined> {
    const { memory } = this.context;
    const own = memory.notePending(id, state);
    return this.inTurn(state, async () => {
      // An equal resource, which failed with the same id, has what it made.
      if (memory.isClosed(own)) return undefined;
      const { decision } = await this.search.decideAfterWaiting(state, [own]);
      const refusal = refusalOf(decision, state);
      if (refusal && decision.kind !== "exists") throw refusal;
      memory.close(own);
      if (decision.kind !== "take") return undefined;
      memory.noteHad(decision.endpoint.id);
      return decision.endpoint;
    });
  }

  /** Settles a pending resource for `delete`: deletes its endpoint, unless it is in doubt or another resource is to have it. */
  settleForDelete(id: string, state: PendingState): Promise<void> {
    const { log, memory, service } = this.context;
    const own = memory.notePending(id, state);
    return this.inTurn(state, async () => {
      if (memory.isClosed(own)) return;
      const { decision } = await this.search.decideAfterWaiting(state, [own]);
      if (decision.kind === "unknowable") throw stillPending(state);
      if (decision.kind === "doubt") log.warn(describeSpared(state, decision));
      if (decision.kind === "take" && !memory.spares(decision.endpoint.id)) {
        await service.delete(decision.endpoint.id).catch(undefinedIfGone);
        memory.noteHad(decision.endpoint.id);
      }
      // Not before: a hook can make the engine call `delete` again if the deletion fails.
      memory.close(own);
    });
  }

  /** Runs work after everything else that concerns the same url and type. */
  inTurn<T>(identity: Pick<EndpointInputs, "url" | "type">, work: () => Promise<T>): Promise<T> {
    const key = keyOf(identity);
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(work, work);
    this.#turns.set(key, turn);
    return turn;
  }

  async #adopt(id: string, inputs: EndpointInputs): Promise<Endpoint> {
    const isOwned = await this.search.readOwners();
    return this.#noteAdopted(await adopt(id, inputs, this.context, isOwned), inputs);
  }

  #noteAdopted(endpoint: Endpoint, inputs: EndpointInputs): Endpoint {
    const { memory, graceMs } = this.context;
    // What else a pending registration may have made, its own `delete` looks for.
    for (const pending of memory.pendingLike(inputs))
      if (isFit(endpoint, pending, graceMs)) memory.close(pending);
    return memory.noteMade(endpoint);
  }

  async #takeOrRegister(inputs: EndpointInputs): Promise<Endpoint> {
    const { log, memory } = this.context;
    const { decision, list } = await this.search.decideForCreate(inputs);
    if (decision.kind === "take") {
      const { endpoint, by } = decision;
      memory.close(by);
      const message = `took over ${endpoint.id} (${describeUrl(inputs.url)}) that an earlier run had registered`;
      log.info(memory.aboutResource(inputs, message));
      return memory.noteMade(endpoint);
    }
    if (decision.kind === "adopt") {
      log.info(memory.aboutResource(inputs, adopts(decision.endpoint)));
      return this.#noteAdopted(decision.endpoint, inputs);
    }
    const refusal = refusalOf(decision, inputs, this.context.stack.problem);
    if (refusal) throw refusal;
    if (decision.kind === "doubt")
      log.warn(`${describeDoubt(inputs, decision)} Another endpoint is registered, as ifExists says.`);
    if (decision.kind === "register" && decision.isListPartial)
      log.warn(
        "the service lists only a part of its endpoints, so nobody can tell whether one that is registered now exists already.",
      );
    // The pending resource that this one replaces made nothing, or the user said to register another one.
    for (const pending of memory.pendingLike(inputs))
      if (pending.ip === (inputs.ip ?? null)) memory.close(pending);
    return this.#register(inputs, list);
  }

  /** @param list what was there before */
  async #register(inputs: EndpointInputs, list: EndpointList): Promise<Endpoint> {
    const { clock, log, memory, origin, service } = this.context;
    const { url, type, ip } = inputs;
    const before = [...equalIn(list, inputs), ...list.unrecognized].map(({ id }) => id);
    let [processSentAt, serviceSentAt] = [clock.now(), service.time()];
    const noteSent = () => {
      [processSentAt, serviceSentAt] = [clock.now(), service.time()];
    };
    try {
      const endpoint = await service.register({ url, type, ip }, noteSent);
      const wasThere = list.endpoints.some(({ id }) => id === endpoint.id) || memory.holds(endpoint.id);
      if (wasThere) throw notRegistered(inputs, endpoint);
      return memory.noteMade(endpoint);
    } catch (error) {
      if (!(error instanceof WebhookRegistrationError)) throw error;
      if (error.outcome === "not-made") throw refusedBeside(list.endpoints, inputs, error);
      const pending = { before, attemptedAt: serviceSentAt };
      const state = { ...stateOf({ createdAt: null, updatedAt: null }, inputs, origin), pending };
      const failure = new PendingError(`${PENDING_PREFIX}${randomUUID()}`, state, error);
      const endpoint = await this.search.lookFor(inputs, evidenceIn(failure), processSentAt);
      if (endpoint === undefined) {
        memory.notePendingError(inputs, failure);
        throw failure;
      }
      const message = `found ${endpoint.id} (${describeUrl(url)}), which the service registered without a usable response`;
      log.info(memory.aboutResource(inputs, message));
      return memory.noteMade(endpoint);
    }
  }

  /**
   * Looks again for a registration of this run: a hook can make the engine call `create` again (engine rule 30). The engine keeps the
   * resource as half-made only if `create` fails in the same way again, so a failed look becomes that.
   */
  async #lookAgain(inputs: EndpointInputs, earlier: PendingError): Promise<Endpoint> {
    const { memory } = this.context;
    if ((inputs.ip ?? null) !== earlier.properties.ip) throw otherIpPending(inputs);
    const endpoint = await this.search.lookFor(inputs, evidenceIn(earlier), Number.NEGATIVE_INFINITY);
    if (endpoint === undefined) throw earlier;
    memory.close(earlier);
    return memory.noteMade(endpoint);
  }
}

function evidenceIn({ id, properties }: PendingError): Evidence {
  return evidenceOf({ id, outputs: { ...properties } });
}
