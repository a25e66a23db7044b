import { WebhookError } from "../client";
import { UNKNOWN_VALUE } from "../shared/unknownValue";
import { NAME_INPUT, ORGANIZATION_INPUT, ROOT_INPUT, SECRET_INPUT } from "./arguments";
import type { Context } from "./context";
import { explain, isUnauthorized } from "./errors";
import { adopts, refusalOf } from "./refusals";
import type { EndpointInputs } from "./state";
import type { Unanswered } from "./unanswered";

/** Refusals of a service that is not at this address. */
const WRONG_ADDRESS: readonly string[] = ["MALFORMED_RESPONSE", "REDIRECTED", "REJECTED"];

type Inputs = Readonly<Record<string, unknown>>;

/** What `check` tells of a resource before anything happens. */
export class Preview {
  /** True once a look has failed. Checks run one after the other, so each would wait as long (engine rule 36). */
  #lookFailed = false;

  constructor(
    private readonly run: Context,
    private readonly unanswered: Unanswered,
  ) {}

  /** Notes what the program's class passes to `check` alone. @returns the name of the resource */
  note(news: Inputs, inputs: EndpointInputs): string | undefined {
    const { memory, stack } = this.run;
    const { [NAME_INPUT]: name, [SECRET_INPUT]: isSecret } = news;
    stack.isAt({ organization: textIn(news, ORGANIZATION_INPUT), rootDirectory: textIn(news, ROOT_INPUT) });
    if (isSecret === true) memory.noteSecretUrl(inputs.url);
    if (typeof name !== "string") return undefined;
    memory.noteName(inputs, name);
    return name;
  }

  /**
   * Looks what `create` would do with a new resource, before anything is registered, and returns why it would stop. Best effort, because
   * `create` decides again; but a refused key should show in the preview.
   */
  async refusals(inputs: EndpointInputs): Promise<string[]> {
    const { log, memory, stack } = this.run;
    const { adoptId, type, url } = inputs;
    if (adoptId !== undefined) {
      if (!(await stack.hasEndpointOf(inputs))) memory.note(adoptId, "named");
      return [];
    }
    const isUnknown = url === UNKNOWN_VALUE || String(type) === UNKNOWN_VALUE;
    const look = this.#lookFailed || isUnknown ? undefined : this.unanswered.look(inputs);
    // The state is read before this run begins to create: its own operations would look like interrupted ones.
    const [looked] = await Promise.allSettled([look, stack.state()]);
    if (looked.status === "rejected") return this.#failed(looked.reason);
    const decision = looked.value;
    if (decision?.kind === "adopt") log.info(memory.aboutResource(inputs, adopts(decision.endpoint)));
    const refusal = decision && refusalOf(decision, inputs, stack.problem);
    return refusal === undefined ? [] : [refusal.message];
  }

  /** Returns the service's time; undefined if it tells none, or cannot be asked now. */
  async serviceTime(): Promise<number | undefined> {
    if (!this.#lookFailed) await this.run.service.list().catch(() => undefined);
    return this.run.service.time() ?? undefined;
  }

  #failed(error: unknown): string[] {
    if (isUnauthorized(error)) return [explain(error).message];
    if (!(error instanceof WebhookError)) throw error;
    this.#lookFailed = true;
    if (WRONG_ADDRESS.includes(error.code))
      this.run.log.warn(`${error.detail} If this program also deploys the service, it may not be there yet.`);
    return [];
  }
}

function textIn(inputs: Inputs, name: string): string | undefined {
  const value = inputs[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
