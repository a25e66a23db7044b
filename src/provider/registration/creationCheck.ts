import { type Endpoint, WebhookError } from "../../client";
import { CLEAR_OPERATIONS } from "../../shared/commandLine";
import { foreign } from "../../shared/escape";
import { UNKNOWN_VALUE } from "../../shared/optionChecks";
import { nameOf } from "../../shared/urn";
import type { Context } from "../context";
import { aboutResource } from "../engine";
import { EndpointError, explain, isUnauthorized } from "../errors";
import type { EndpointInputs } from "../state";
import type { Conclusions } from "./conclude";
import { isStop } from "./decide";
import { askOtherStacks } from "./otherStacks";
import { adopts, refusalOf } from "./refusals";

/** Refusals of a service that is not at this address. */
const WRONG_ADDRESS: readonly string[] = ["MALFORMED_RESPONSE", "REDIRECTED", "REJECTED"];

/** Pulumi's own warning of such a run advises a refresh, which would drop what tells what the run registered. */
const INTERRUPTED =
  "an interrupted run may have registered endpoints. `pulumi up` takes them over: run it before any refresh. Afterwards, " +
  `\`${CLEAR_OPERATIONS}\` ends Pulumi's warning.`;

/** The check of a creation: what `check` tells of a new resource before its `create`. */
export class CreationCheck {
  /** The new resources that would adopt an endpoint, by its id. */
  readonly #adopting = new Map<string, Set<string>>();
  /** True once a look has failed. In a preview, checks run one after the other, so each would wait as long (engine rule 36). */
  #lookFailed = false;

  constructor(
    private readonly context: Context,
    private readonly conclusions: Conclusions,
  ) {}

  /**
   * Looks what `create` would do with a new resource, while others may be registered, and returns why it would stop: nothing for an
   * `adoptId`, or for what is not known yet. Best effort, because `create` decides again; but a refused key should show in the preview.
   *
   * @param urn undefined if nobody told it
   */
  async refusals(inputs: EndpointInputs, urn = ""): Promise<string[]> {
    const { endpoints, log, stack } = this.context;
    const { adoptId, ifExists, ip, type, url } = inputs;
    if (adoptId !== undefined) {
      if (await this.conclusions.isSpent(inputs)) return [];
      endpoints.noteAdoptId(adoptId);
      if (adoptId !== UNKNOWN_VALUE) this.#warnOfIp(inputs, adoptId, urn);
      return [];
    }
    // What a preview does not know yet may still come out well.
    const isUnknown = [ifExists, ip, type, url].map(String).includes(UNKNOWN_VALUE);
    const look = this.#lookFailed || isUnknown ? undefined : this.conclusions.preview(inputs);
    // The state is read before this run begins to create: its own operations would look like interrupted ones.
    const reading = stack.state();
    const [looked] = await Promise.allSettled([look, reading]);
    if ((await reading)?.interrupted.length) log.info(INTERRUPTED);
    if (looked.status === "rejected") return this.#failed(looked.reason);
    const decision = looked.value;
    if (decision?.kind === "adopt") {
      // A check asks for no proof, so this reads other stacks only where the state can only be this one's.
      const { taken, read } = await askOtherStacks(decision.endpoint, this.context);
      if (taken) return [taken.message];
      this.#sayAdoption(inputs, decision.endpoint, { urn, read });
    }
    // Several organizations may have this stack. Only an update under way tells which it is, and `up` previews first.
    if (!decision || !isStop(decision) || stack.isAmbiguous) return [];
    return [refusalOf(decision, inputs, this.context, { whyWithoutState: stack.whyNotRead }).message];
  }

  /** Returns why nothing new may be registered with today's key, as far as the service can be asked. */
  async refusalOfAccount(): Promise<string[]> {
    if (this.#lookFailed) return [];
    try {
      await this.context.accounts.assertNewIsHere();
      return [];
    } catch (error) {
      if (error instanceof EndpointError) return [error.message];
      return this.#failed(error);
    }
  }

  /** @param read how much was read of other stacks before */
  #sayAdoption(
    inputs: EndpointInputs,
    endpoint: Endpoint,
    { urn, read }: Record<"urn" | "read", string>,
  ): void {
    const { log } = this.context;
    const { id } = endpoint;
    const all = (this.#adopting.get(id) ?? new Set<string>()).add(urn);
    this.#adopting.set(id, all);
    log.info(aboutResource(urn, adopts(endpoint) + read));
    this.#warnOfIp(inputs, id, urn);
    if (all.size === 1) return;
    const names = [...all].map((each) => foreign(JSON.stringify(nameOf(each)))).join(" and ");
    log.warn(
      `${names} have the same url and type, and would all adopt endpoint ${foreign(id)}. One of them adopts it, and each other one registers another ` +
        "endpoint, so that each event is delivered several times. Declare one resource for each url.",
    );
  }

  #warnOfIp({ ip }: EndpointInputs, id: string, urn: string): void {
    if (ip === undefined) return;
    const warning =
      `endpoint ${foreign(id)} is adopted as it is. The service does not tell its ip, so nothing shows that it has the declared one. To be sure, adopt ` +
      "it without ip, and add ip in a later run, which registers an endpoint with it in its place.";
    this.context.log.warn(aboutResource(urn, warning));
  }

  /** Returns the service's time now, by its newest response, which is at most ten seconds old if it can be asked; undefined if none told it. */
  async serviceTime(): Promise<number | undefined> {
    if (!this.#lookFailed) await this.context.service.list().catch(() => undefined);
    return this.context.service.time() ?? undefined;
  }

  #failed(error: unknown): string[] {
    if (isUnauthorized(error)) return [explain(error, { verb: "check", hasProgram: true }).message];
    if (!(error instanceof WebhookError)) throw error;
    this.#lookFailed = true;
    if (WRONG_ADDRESS.includes(error.code))
      this.context.log.warn(
        `${error.detail} If this program also deploys the service, it may not be there yet.`,
      );
    return [];
  }
}
