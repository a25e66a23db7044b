import { type Endpoint, type EndpointList, WebhookError, WebhookRegistrationError } from "../client";
import { UNKNOWN_VALUE } from "./arguments";
import { EndpointError, isGone, isUnauthorized, keyRefused, UnansweredError } from "./errors";
import type { Replaced } from "./handover";
import { describeAlike } from "./identity";
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
  #baseline: Promise<EndpointList> | undefined;
  /** The service's clock less ours, in milliseconds; null until the service has sent its time. */
  #skew: number | null = null;

  constructor(private readonly run: Run) {}

  /**
   * Warns about endpoints that already have this url and type, or refuses with `ifExists: "fail"`. Those that this run
   * replaces do not count. None is ever adopted because it is alike (engine rule 17). Which of them are this program's own
   * is unknown until their resources have come by, so the message fits both.
   */
  async #lookForAlike(inputs: EndpointInputs): Promise<void> {
    const { ledger, log } = this.run;
    const ids = ledger
      .alikeSoFar(await this.#list(), inputs)
      .filter((id) => !ledger.mayDelete(id) || ledger.mayBeLost(id));
    if (ids.length === 0) return;
    const own = ids.some((id) => !ledger.mayDelete(id));
    const { warning, refusal } = describeAlike(inputs, ids, { own });
    if (inputs.ifExists === "fail") throw new EndpointError("ENDPOINT_EXISTS", refusal);
    log.warn(warning);
  }

  /**
   * Looks for what a new resource would duplicate before anything is registered, and returns what is wrong. Best effort,
   * because `create` looks again; but a refused key should show in the preview.
   */
  async preview(news: Readonly<Record<string, unknown>>): Promise<string[]> {
    if (news.url === UNKNOWN_VALUE || news.type === UNKNOWN_VALUE || news.adoptId !== undefined) return [];
    const inputs = news as unknown as EndpointInputs;
    if (this.run.handover.has(inputs)) return [];
    try {
      await this.#lookForAlike(inputs);
    } catch (error) {
      if (error instanceof EndpointError) return [error.message];
      if (isUnauthorized(error)) return [keyRefused(error).message];
      if (!(error instanceof WebhookError)) throw error;
    }
    return [];
  }

  /**
   * Registers an endpoint, or finds the one that an earlier registration of the same resource made.
   *
   * @throws UnansweredError when it was sent and nothing shows whether it was made
   */
  register(inputs: EndpointInputs, replaced: Replaced | undefined): Promise<Endpoint> {
    const { ledger, queue } = this.run;
    return queue.add(inputs, async () => {
      if (replaced?.unanswered) {
        const found = await this.run.settler
          .settle(replaced.id, inputs, replaced.unanswered)
          .catch((error: unknown) => {
            ledger.noteUncertain(inputs); // so that no equal registration is taken for it later
            throw error;
          });
        if (found) return ledger.noteOurs(found, "made");
      }
      if (ledger.isUncertain(inputs)) {
        throw new EndpointError(
          "REGISTRATION_WAITS",
          `${describeUrl(inputs.url)} was not registered: an equal registration of this run got no answer. Run the same command again.`,
        );
      }
      const baseline = await this.#list();
      if (!replaced?.unanswered) await this.#lookForAlike(inputs);
      return ledger.noteOurs(await this.#send(inputs, baseline), "made");
    });
  }

  /** Adopts the endpoint that the user named. Nothing changes at the service. */
  adopt(id: string, inputs: EndpointInputs, replaced: Replaced | undefined): Promise<Endpoint> {
    const { ledger, queue, service } = this.run;
    return queue.add(inputs, async () => {
      const endpoint = await service.get(id).catch((error: unknown) => {
        if (!isGone(error)) throw error;
        throw new EndpointError(
          "ADOPT_NOT_FOUND",
          `cannot adopt endpoint ${id}: the service has no endpoint with this id. Correct adoptId, or remove it to register a new one.`,
          { cause: error },
        );
      });
      assertAsDeclared(endpoint, inputs);
      if (!ledger.mayBeLost(id)) {
        throw new EndpointError(
          "ADOPT_TAKEN",
          `cannot adopt endpoint ${id}: another resource of this program already has it. Name it in only one of them.`,
        );
      }
      if (replaced?.unanswered && !replaced.unanswered.before.includes(id))
        ledger.note(replaced.id, "settled");
      return ledger.noteOurs(endpoint, "made");
    });
  }

  async #send(inputs: EndpointInputs, baseline: EndpointList): Promise<Endpoint> {
    const { clock, ledger, service, timeoutMs } = this.run;
    const { url, type, ip } = inputs;
    const startedAt = clock.date();
    const registration: UnansweredRegistration = {
      before: [...ledger.alikeSoFar(baseline, inputs), ...unrecognizedIds(baseline, url)],
      attemptedAt: this.#skew === null ? null : Math.round(startedAt + this.#skew),
      complete: baseline.complete,
    };
    try {
      return await service.register({ url, type, ip });
    } catch (error) {
      if (!(error instanceof WebhookRegistrationError) || error.outcome === "not-made") throw error;
      const answered = error.statusCode !== undefined;
      const until = Math.max(clock.date() + LOOK_AFTER_ANSWER_MS, answered ? 0 : startedAt + timeoutMs);
      // Whatever goes wrong here, the registration must not be lost.
      const decision = await this.run.settler.watch(inputs, registration, until).catch(() => undefined);
      if (decision?.kind === "found") return decision.endpoint;
      ledger.noteUncertain(inputs);
      const times = { createdAt: null, updatedAt: null };
      const state = { ...stateOf(times, inputs, this.run.origin), pending: registration };
      throw new UnansweredError(provisionalId(), state, error);
    }
  }

  /** The baseline. A list that fails is asked for again. */
  #list(): Promise<EndpointList> {
    const { clock, service } = this.run;
    this.#baseline ??= service.list().then(
      (list) => {
        if (list.serverTime !== null) this.#skew = list.serverTime - clock.date();
        return list;
      },
      (error: unknown) => {
        this.#baseline = undefined;
        throw error;
      },
    );
    return this.#baseline;
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
      "from the declaration. Declare the endpoint as it is, adopt it, and change it afterwards.",
  );
}
