import { type EndpointList, WebhookError } from "../client";
import type { Identity } from "../settlement/identity";
import type { Settlement } from "../settlement/settlement";
import type { Stacks } from "../settlement/stack";
import { describeDoubt } from "../settlement/words";
import { UNKNOWN_VALUE } from "../shared/unknownValue";
import { describeUrl, sameUrl } from "../shared/url";
import { quoted } from "../shared/words";
import type { EngineLog } from "./engine";
import { aboutResource, EndpointError, isUnauthorized, keyRefused } from "./errors";
import { type Handover, keyOfInputs } from "./handover";
import type { Ledger } from "./ledger";
import type { Origin } from "./origin";
import type { EndpointInputs } from "./types";

/** Refusals of a service that is not at this address. */
const WRONG_ADDRESS: readonly string[] = ["MALFORMED_RESPONSE", "REDIRECTED", "REJECTED"];

/** Where to look for what a new registration would duplicate. */
interface DuplicateSources {
  readonly ledger: Ledger;
  readonly handover: Handover;
  readonly settlement: Settlement;
  readonly stacks: Stacks;
  readonly origin: Origin;
  /** Returns the endpoints that were there a moment ago, and those with this url and type that the list may not show yet. */
  readonly baseline: (inputs: EndpointInputs) => Promise<EndpointList>;
  readonly log: EngineLog;
}

/** Looks for what a new registration would duplicate. */
export class DuplicateCheck {
  /** True once a look of the preview has failed. Checks run one after the other, so each would wait as long (engine rule 36). */
  #lookFailed = false;
  /** The names of the resources that have been checked, by their inputs: `create` gets only the inputs. */
  readonly #names = new Map<string, string[]>();

  constructor(private readonly run: DuplicateSources) {}

  noteName(inputs: Readonly<Record<string, unknown>>, name: unknown): void {
    if (typeof name !== "string") return;
    const key = keyOfInputs(inputs as unknown as EndpointInputs);
    this.#names.set(key, [...(this.#names.get(key) ?? []), name]);
  }

  /**
   * Warns about endpoints that already have this url and type, or refuses with `ifExists: "fail"`. Those that this run
   * replaces do not count. None is ever adopted because it is alike (engine rule 17). Which of them are this program's own
   * is unknown until `diff` has been called for their resources, so the message fits both.
   *
   * @param options.except what does not count either
   * @param options.isReplacement whether the resource has an endpoint already: then it adopts no other
   */
  async check(
    inputs: EndpointInputs,
    { except, isReplacement }: { readonly except: readonly string[]; readonly isReplacement: boolean },
  ): Promise<void> {
    const ids = this.#alike(inputs, await this.run.baseline(inputs)).filter((id) => !except.includes(id));
    if (ids.length === 0) return;
    const names = this.#names.get(keyOfInputs(inputs)) ?? [];
    this.#report(inputs, ids, { name: names.length > 1 ? names.shift() : names[0], isReplacement });
  }

  /**
   * Says what `create` would do, before anything is registered, and returns what is wrong. Best effort, because `create` decides
   * again; but a refused key should show in the preview.
   */
  async preview(news: Readonly<Record<string, unknown>>, name: unknown): Promise<string[]> {
    const { handover, ledger } = this.run;
    if (news.url === UNKNOWN_VALUE || news.type === UNKNOWN_VALUE) return [];
    const inputs = news as unknown as EndpointInputs;
    if (handover.has(inputs)) return [];
    if (inputs.adoptId !== undefined) {
      ledger.note(inputs.adoptId, "wanted");
      return [];
    }
    if (this.#lookFailed) return [];
    try {
      await this.#preview(inputs, name);
    } catch (error) {
      if (error instanceof EndpointError) return [error.message];
      if (isUnauthorized(error)) return [keyRefused(error).message];
      if (!(error instanceof WebhookError)) throw error;
      this.#lookFailed = true;
      if (WRONG_ADDRESS.includes(error.code)) {
        const reason = `${error.reason} If this program also deploys the service, it may not be there yet.`;
        this.run.log.warn(reason);
      }
    }
    return [];
  }

  async #preview(inputs: EndpointInputs, name: unknown): Promise<void> {
    const { baseline, ledger, origin, settlement, stacks } = this.run;
    const list = await baseline(inputs);
    const alike = this.#alike(inputs, list);
    if (alike.length === 0) return;
    const decision = await settlement.preview(inputs, list);
    if (decision?.kind === "doubt" && inputs.ifExists !== "register")
      throw new EndpointError("REGISTRATION_IN_DOUBT", aboutResource(name, describeDoubt(inputs, decision)));
    if (decision !== undefined && decision.kind !== "absent") return;
    const state = await (await stacks.current())?.state();
    const own =
      typeof name === "string"
        ? state?.idOf(name, origin.provider, { identity: inputs, ids: alike })
        : undefined;
    // It is replaced without a `diff` (engine rule 17).
    if (own !== undefined && !ledger.isKept(own)) ledger.note(own, "replaced");
    const ids = this.#alike(inputs, list);
    if (ids.length > 0) this.#report(inputs, ids, { name, isReplacement: false });
  }

  #alike(inputs: EndpointInputs, list: EndpointList): string[] {
    const { ledger } = this.run;
    // One whose type cannot be read may have this one.
    const odd = list.unrecognized.filter(({ url }) => url !== null && sameUrl(url, inputs.url));
    const ids = [...ledger.alikeSoFar(list, inputs), ...odd.map(({ id }) => id)];
    return ids.filter((id) => ledger.isKept(id) || !ledger.isGivenUp(id));
  }

  #report(
    inputs: EndpointInputs,
    ids: readonly string[],
    { name, isReplacement }: { readonly name: unknown; readonly isReplacement: boolean },
  ): void {
    if (inputs.ifExists === "register") return;
    const own = ids.some((id) => this.run.ledger.isKept(id));
    const { warning, refusal } = describeAlike(inputs, ids, { own, isReplacement });
    if (inputs.ifExists === "fail") throw new EndpointError("ENDPOINT_EXISTS", aboutResource(name, refusal));
    this.run.log.warn(aboutResource(name, warning));
  }
}

/** Describes the endpoints that a new one would duplicate, as a warning and as the reason of a refusal. */
function describeAlike(
  { url, type }: Identity,
  ids: readonly string[],
  { own, isReplacement }: { readonly own: boolean; readonly isReplacement: boolean },
) {
  const found =
    `the service already has ${ids.length === 1 ? "an endpoint" : `${ids.length} endpoints`} with this url ` +
    `(${describeUrl(url)}) and type (${type}): ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ", …" : ""}.`;
  const [id = ""] = ids;
  const adoptId = `adoptId: ${JSON.stringify(id)}`;
  const one = "Another resource of this program already manages it. Remove one of the two.";
  const toKeep = isReplacement
    ? `To keep it, give the resource another name, without an alias, and set ${adoptId}.`
    : `To keep it, set ${adoptId}, or give a renamed resource an alias of its old name.`;
  const toDelete = `If nothing else needs it, delete it with \`npx pulumi-webhook-endpoints delete ${quoted(id)}\`.`;
  const consequence = `This run registers another one. If the service keeps both, each event is then delivered twice${own ? "" : ", unless this run deletes the existing endpoint"}.`;
  return {
    warning: `${found} ${consequence} ${own ? one : isReplacement ? toDelete : toKeep}`,
    refusal: `${found} ifExists is "fail", so nothing was registered. ${own ? one : `${toKeep} If the endpoint belongs to this program, remove ifExists for one run.`}`,
  };
}
