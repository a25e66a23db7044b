import { type Endpoint, type EndpointList, WebhookRegistrationError } from "../client";
import { EndpointError, isGone, UnansweredError } from "./errors";
import { keyOfInputs, type Replaced } from "./handover";
import type { Run } from "./run";
import { provisionalId, stateOf } from "./state";
import type { EndpointInputs, UnansweredRegistration } from "./types";
import { describeUrl, sameUrl } from "./url";

/** How long to look for the endpoint of a registration whose answer could not be used, in milliseconds. */
const LOOK_AFTER_ANSWER_MS = 5_000;

/**
 * Registers each endpoint once, at a service that accepts duplicates and knows no idempotency key.
 *
 * Before its first registration a run lists what is there: the baseline. When a registration gets no answer, an endpoint
 * of its url and type that is neither in the baseline nor any resource's came from it. If there is none, the registration
 * goes into the state under a provisional id, and a later run settles it. It is never sent again on a guess. The guarantee
 * holds for each process.
 */
export class Registrar {
  /** The registrations of this run that got no answer, by their inputs. */
  readonly #unanswered = new Map<string, { readonly error: UnansweredError; readonly entry: string }>();

  constructor(private readonly run: Run) {}

  /**
   * Registers an endpoint, or finds the one that an earlier registration of the same resource made.
   *
   * @throws UnansweredError when it was sent and nothing shows whether it was made
   */
  register(inputs: EndpointInputs, replaced: Replaced | undefined): Promise<Endpoint> {
    const { queue, witnesses } = this.run;
    return witnesses.during(inputs, () => queue.add(inputs, () => this.#register(inputs, replaced)));
  }

  async #register(inputs: EndpointInputs, replaced: Replaced | undefined): Promise<Endpoint> {
    const { clock, duplicates, ledger, service, witnesses } = this.run;
    const baseline = await service.baseline();
    const found =
      (await this.#retried(inputs)) ??
      (await this.#settled(inputs, replaced)) ??
      (await this.#orUncertain(inputs, witnesses.findLost(inputs, baseline)));
    if (found) {
      (await witnesses.journal()).took(inputs, found.id, clock.date());
      return ledger.noteOurs(found, "made");
    }
    if (ledger.isUncertain(inputs)) {
      throw new EndpointError(
        "REGISTRATION_WAITS",
        `${describeUrl(inputs.url)} was not registered: a registration with the same url and type got no answer in this run. Run the same command again.`,
      );
    }
    // Before a registration without an answer was sent, its own run checked.
    if (!replaced?.unanswered) await duplicates.check(inputs);
    return ledger.noteOurs(await this.#send(inputs, baseline), "made");
  }

  /**
   * Settles a registration of this run that got no answer: a hook can make the engine call `create` again (engine rule 30).
   * The engine keeps it in the state only if `create` fails in the same way again. An equal resource gets the same error, and
   * so the same provisional id; the next run gives each its own endpoint.
   */
  async #retried(inputs: EndpointInputs): Promise<Endpoint | undefined> {
    const { clock, ledger, settler, witnesses } = this.run;
    const failed = this.#unanswered.get(keyOfInputs(inputs));
    if (failed === undefined) return undefined;
    const { error, entry } = failed;
    const { pending } = error.properties;
    const decision = await settler.watch(inputs, pending, clock.date()).catch(() => undefined);
    if (decision?.kind !== "found") throw error;
    this.#unanswered.delete(keyOfInputs(inputs));
    ledger.note(error.id, "settled");
    (await witnesses.journal()).became(entry, decision.endpoint.id);
    return decision.endpoint;
  }

  /** Settles a registration that an earlier run left without an answer in the state. */
  async #settled(inputs: EndpointInputs, replaced: Replaced | undefined): Promise<Endpoint | undefined> {
    const { ledger, settler } = this.run;
    if (replaced?.unanswered === undefined || ledger.has(replaced.id, "settled")) return undefined;
    const found = await this.#orUncertain(inputs, settler.settle(inputs, replaced.unanswered));
    ledger.note(replaced.id, "settled");
    return found;
  }

  /** When an earlier registration cannot be settled, no equal one may be sent: it could be mistaken for the earlier one. */
  #orUncertain<T>(inputs: EndpointInputs, settling: Promise<T>): Promise<T> {
    return settling.catch((error: unknown) => {
      this.run.ledger.noteUncertain(inputs);
      throw error;
    });
  }

  /** Adopts the endpoint that the user named. Nothing changes at the service. */
  adopt(id: string, inputs: EndpointInputs, replaced: Replaced | undefined): Promise<Endpoint> {
    const { clock, ledger, log, queue, service, witnesses } = this.run;
    return queue.add(inputs, async () => {
      const journal = await witnesses.journal();
      const endpoint = await service.get(id).catch((error: unknown) => {
        if (!isGone(error)) throw error;
        // Adopted before and deleted since, by this run or behind Pulumi's back: then the resource needs a new one.
        if (ledger.has(id, "deleted") || journal.find(id)) return undefined;
        throw new EndpointError(
          "ADOPT_NOT_FOUND",
          `cannot adopt endpoint ${id}: the service has no endpoint with this id. Correct adoptId, or remove it to register a new one.`,
          { cause: error },
        );
      });
      if (endpoint === undefined) {
        log.warn(`endpoint ${id} in adoptId no longer exists, so a new one is registered. Remove adoptId.`);
        return this.#register(inputs, replaced);
      }
      assertAsDeclared(endpoint, inputs);
      if (!ledger.isUnclaimed(id)) {
        throw new EndpointError(
          "ADOPT_TAKEN",
          `cannot adopt endpoint ${id}: another resource of this program already has it. Name it in only one of them.`,
        );
      }
      if (replaced?.unanswered && !replaced.unanswered.before.includes(id))
        ledger.note(replaced.id, "settled");
      journal.took(inputs, id, clock.date());
      return ledger.noteOurs(endpoint, "made");
    });
  }

  async #send(inputs: EndpointInputs, baseline: EndpointList): Promise<Endpoint> {
    const { clock, ledger, origin, service, settler, timeoutMs, witnesses } = this.run;
    const { url, type, ip } = inputs;
    const startedAt = clock.date();
    const registration: UnansweredRegistration = {
      before: [...ledger.alikeSoFar(baseline, inputs), ...unrecognizedIds(baseline, url)],
      attemptedAt: service.skew === null ? null : Math.round(startedAt + service.skew),
      complete: baseline.complete,
    };
    const journal = await witnesses.journal();
    const entry = journal.sending(inputs, registration, startedAt);
    try {
      const endpoint = await service.register({ url, type, ip });
      journal.became(entry, endpoint.id);
      return endpoint;
    } catch (error) {
      if (!(error instanceof WebhookRegistrationError)) throw error;
      if (error.outcome === "not-made") {
        journal.close(entry);
        throw error;
      }
      const answered = error.statusCode !== undefined;
      const until = Math.max(clock.date() + LOOK_AFTER_ANSWER_MS, answered ? 0 : startedAt + timeoutMs);
      // Whatever goes wrong here, the registration must not be lost.
      const decision = await settler.watch(inputs, registration, until).catch(() => undefined);
      if (decision?.kind === "found") {
        journal.became(entry, decision.endpoint.id);
        return decision.endpoint;
      }
      ledger.noteUncertain(inputs);
      const times = { createdAt: null, updatedAt: null };
      const state = { ...stateOf(times, inputs, origin), pending: registration };
      const unanswered = new UnansweredError(provisionalId(), state, error);
      journal.became(entry, unanswered.id);
      this.#unanswered.set(keyOfInputs(inputs), { error: unanswered, entry });
      throw unanswered;
    }
  }
}

/** Returns the ids with this url whose type the service spells in an unknown way. */
function unrecognizedIds({ unrecognized }: EndpointList, url: string): string[] {
  return unrecognized.flatMap((each) => (each.url !== null && sameUrl(each.url, url) ? [each.id] : []));
}

function assertAsDeclared({ id, url, type }: Endpoint, inputs: EndpointInputs): void {
  const differing = [...(sameUrl(url, inputs.url) ? [] : ["url"]), ...(type === inputs.type ? [] : ["type"])];
  if (differing.length === 0) return;
  throw new EndpointError(
    "ADOPT_MISMATCH",
    `cannot adopt endpoint ${id}: its ${differing.join(" and ")} at the service ${differing.length === 1 ? "differs" : "differ"} ` +
      "from the declaration. Declare the endpoint as it is, adopt it, and change it afterwards; or remove adoptId to register a new one.",
  );
}
