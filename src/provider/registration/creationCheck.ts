import { WebhookError } from "../../client";
import { UNKNOWN_VALUE } from "../../shared/unknownValue";
import { CLEAR_OPERATIONS } from "../../shared/words";
import type { Context } from "../context";
import { EndpointError, explain, isUnauthorized } from "../errors";
import type { EndpointInputs } from "../state";
import { adopts, refusalOf } from "./refusals";
import type { RegistrationSearch } from "./registrationSearch";

/** Refusals of a service that is not at this address. */
const WRONG_ADDRESS: readonly string[] = ["MALFORMED_RESPONSE", "REDIRECTED", "REJECTED"];

/** Pulumi's own warning of such a run advises a refresh, which would drop what tells what the run registered. */
const INTERRUPTED =
  "an interrupted run may have registered endpoints. `pulumi up` takes them over: run it before any refresh. Afterwards, " +
  `\`${CLEAR_OPERATIONS}\` ends Pulumi's warning.`;

/** The check of a creation: what `check` tells of a new resource before anything happens. */
export class CreationCheck {
  /** True once a look has failed. Checks run one after the other, so each would wait as long (engine rule 36). */
  #lookFailed = false;

  constructor(
    private readonly context: Context,
    private readonly search: RegistrationSearch,
  ) {}

  /**
   * Looks what `create` would do with a new resource, before anything is registered, and returns why it would stop. Best effort, because
   * `create` decides again; but a refused key should show in the preview.
   */
  async refusals(inputs: EndpointInputs): Promise<string[]> {
    const { declarations, endpoints, log, stack } = this.context;
    const { adoptId, type, url } = inputs;
    if (adoptId !== undefined) {
      if (!(await this.search.isSpent(inputs))) endpoints.noteAdoptId(adoptId);
      return [];
    }
    const isUnknown = url === UNKNOWN_VALUE || String(type) === UNKNOWN_VALUE;
    const look = this.#lookFailed || isUnknown ? undefined : this.search.preview(inputs);
    // The state is read before this run begins to create: its own operations would look like interrupted ones.
    const reading = stack.state();
    const [looked] = await Promise.allSettled([look, reading]);
    if ((await reading)?.interrupted.length) log.info(INTERRUPTED);
    if (looked.status === "rejected") return this.#failed(looked.reason);
    const decision = looked.value;
    if (decision?.kind === "adopt") log.info(declarations.aboutResource(inputs, adopts(decision.endpoint)));
    const refusal = decision && refusalOf(decision, inputs, this.context, stack.unreadable);
    // A preview that fails would keep `up` from ever telling which stack it is.
    return refusal === undefined || stack.isAmbiguous ? [] : [refusal.message];
  }

  /** Returns why nothing new may be registered with today's key, as far as the service can be asked. */
  async refusalOfAccount(assertNewIsHere: () => Promise<void>): Promise<string[]> {
    if (this.#lookFailed) return [];
    try {
      await assertNewIsHere();
      return [];
    } catch (error) {
      if (error instanceof EndpointError) return [error.message];
      return this.#failed(error);
    }
  }

  /** Returns the service's time; undefined if it tells none, or cannot be asked now. */
  async serviceTime(): Promise<number | undefined> {
    if (!this.#lookFailed) await this.context.service.list().catch(() => undefined);
    return this.context.service.time() ?? undefined;
  }

  #failed(error: unknown): string[] {
    if (isUnauthorized(error)) return [explain(error).message];
    if (!(error instanceof WebhookError)) throw error;
    this.#lookFailed = true;
    if (WRONG_ADDRESS.includes(error.code))
      this.context.log.warn(
        `${error.detail} If this program also deploys the service, it may not be there yet.`,
      );
    return [];
  }
}
