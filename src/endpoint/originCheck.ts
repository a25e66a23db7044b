import type { Endpoint } from "../client";
import { isProvisional } from "../settlement/identity";
import type { Stacks } from "../settlement/stack";
import type { Takings } from "../settlement/takings";
import {
  type Holder,
  holderAmong,
  originHashes,
  type Trace,
  timesAgree,
  traceOfEndpoint,
  traceOfResource,
} from "../settlement/trace";
import { describeUrl, sameUrl } from "../shared/url";
import type { EngineLog } from "./engine";
import { EndpointError } from "./errors";
import type { Origin } from "./origin";
import type { Service } from "./service";
import type { EndpointState } from "./types";

/** After how many reads in a row that find nothing the API key is suspected to be another account's. */
const SUSPICIOUS_MISSES = 3;

/** Where this run registers, and what tells where a resource was registered. */
interface OriginSources {
  readonly origin: Origin;
  readonly service: Service;
  readonly stacks: Stacks;
  readonly takings: Takings;
  readonly log: EngineLog;
}

/**
 * Compares where a resource was registered with where this run's settings lead. A state without an origin, which an import
 * file may leave, counts as registered there.
 */
export class OriginCheck {
  #misses = 0;

  constructor(private readonly run: OriginSources) {}

  /**
   * Returns why an endpoint that is not here has to be registered again:
   * - `account`: it was registered with another key. A rotated key finds it.
   * - `provider`: the resource has moved to a provider of another name, at another base URL that does not know the endpoint.
   *
   * A base URL that has changed without another provider is a mistake, unless the service itself has moved and knows the
   * endpoint there.
   *
   * @throws EndpointError `OTHER_BASE_URL`
   */
  async reasonToMove(id: string, state: EndpointState): Promise<"account" | "provider"> {
    if (this.isOtherService(state) && (await this.isOtherProvider(id, state))) return "provider";
    this.assertSameService(id, state);
    this.run.log.warn(
      "the account of the current API key doesn't have the endpoints that were registered with the previous key, so they are registered " +
        `again. If you changed the key by mistake, stop here and restore ${this.#placeOf("apiKey")}.`,
    );
    return "account";
  }

  /** Returns whether a resource was registered at another base URL than today's. */
  isOtherService({ baseUrl }: EndpointState): boolean {
    return (baseUrl ?? this.run.origin.baseUrl) !== this.run.origin.baseUrl;
  }

  /** Returns whether a resource was registered at another base URL or with another key than today's. */
  isElsewhere(state: EndpointState): boolean {
    return (
      this.isOtherService(state) || (state.account ?? this.run.origin.account) !== this.run.origin.account
    );
  }

  /**
   * Returns whether what this run's service has under a recorded id is that endpoint. Another service or account may have given the
   * id to an endpoint of its own, and this one may have used it again. Such an endpoint must not be read or deleted.
   */
  isSameEndpoint(state: EndpointState, endpoint: Endpoint | undefined): endpoint is Endpoint {
    if (endpoint === undefined) return false;
    const holder = this.#holderOf(endpoint, state);
    if (holder !== "unclear" || this.isElsewhere(state)) return holder !== "nobody";
    if (this.#isOfAnotherTime(endpoint, state)) return false;
    // Its url or type is another one, and the state does not tell when it was made. The book tells when its registration was sent.
    const known = this.run.takings.ofId(endpoint.id, state);
    return known.length === 0 || holderAmong(known, this.#shown(endpoint)) !== "nobody";
  }

  #holderOf(endpoint: Endpoint, state: EndpointState): Holder {
    return holderAmong([traceOf(endpoint.id, state)], this.#shown(endpoint));
  }

  /** Returns whether an endpoint was made at another time than the recorded one. */
  #isOfAnotherTime(endpoint: Endpoint, state: EndpointState): boolean {
    return timesAgree(traceOf(endpoint.id, state), this.#shown(endpoint)) === false;
  }

  #shown(endpoint: Endpoint): Trace {
    return traceOfEndpoint(endpoint, originHashes(this.run.origin));
  }

  /**
   * Returns whether a recorded endpoint is at today's service, as far as that has to be asked. If a resource was registered elsewhere, its
   * id may be another endpoint's here.
   */
  async isHere(id: string, state: EndpointState): Promise<boolean> {
    if (!this.isElsewhere(state) || isProvisional(id)) return true;
    return this.isSameEndpoint(state, await this.run.service.find(id));
  }

  /** Returns whether another endpoint has the id of one that was here, and warns then. */
  async isUsedAgain(id: string, state: EndpointState): Promise<boolean> {
    if (this.isElsewhere(state)) return false;
    const found = await this.run.service.foundBefore(id);
    if (found === undefined) return false;
    const isReadable = "type" in found;
    const isAlike = found.url !== null && sameUrl(found.url, state.url);
    if (isAlike && (!isReadable || (found.type === state.type && !this.#isOfAnotherTime(found, state))))
      return false;
    if (isReadable && this.#holderOf(found, state) === "somebody") return false;
    const what = found.url === null ? "a url that cannot be read" : describeUrl(found.url);
    this.run.log.warn(
      `endpoint ${id} is not deleted: the service has used this id again, or somebody has changed the endpoint. It is now for ` +
        `${what} (${isReadable ? found.type : "an unknown type"}). If it is this resource's, delete it at the service.`,
    );
    return true;
  }

  /**
   * Returns whether a resource has a provider of another name, so that its move is declared in the program. What was recorded
   * with it may be older than its last move, and release 0.1.0 recorded nothing, so the stack's state decides if it can be
   * read.
   */
  async isOtherProvider(id: string, state: EndpointState): Promise<boolean> {
    const { provider } = state;
    const { origin, stacks } = this.run;
    if (provider === origin.provider && !this.isOtherService(state)) return false;
    const recorded = await (await stacks.current())?.state();
    return (recorded?.providerOf(traceOf(id, state)) ?? { name: provider }).name !== origin.provider;
  }

  /**
   * Concludes that a recorded endpoint no longer exists.
   *
   * @throws EndpointError `OTHER_BASE_URL` when it was recorded with another base URL than today's
   */
  concludeGone(id: string, state: EndpointState, cause?: unknown): void {
    this.assertSameService(id, state, cause);
    if (!this.isElsewhere(state)) return;
    this.run.log.warn(
      `endpoint ${id} is not in the account of the current API key, so it counts as deleted. It was registered with a different key. ` +
        "If that key belongs to another account, delete the endpoint there.",
    );
  }

  /** Warns that a pending registration may have been made in another account than today's. */
  warnOfOtherKey(id: string, state: EndpointState): void {
    if (this.isOtherService(state) || !this.isElsewhere(state)) return;
    this.run.log.warn(
      `the registration ${id} was sent with a different API key. If that key belongs to another account, look for the ` +
        "endpoint there.",
    );
  }

  /** Counts an endpoint that a refresh did not find, and warns when the first few are all missing. */
  countMiss(): void {
    this.#misses += 1;
    if (this.run.service.hasFound || this.#misses !== SUSPICIOUS_MISSES) return;
    this.run.log.warn(
      `the service has none of the first ${SUSPICIOUS_MISSES} endpoints looked for. If you didn't expect this, the API key may ` +
        `belong to another account: check ${this.#placeOf("apiKey")} before the next \`pulumi up\` registers them again.`,
    );
  }

  /** @throws EndpointError `OTHER_BASE_URL` when a resource was recorded with another base URL than today's */
  assertSameService(id: string, state: EndpointState, cause?: unknown): void {
    if (!this.isOtherService(state)) return;
    throw new EndpointError(
      "OTHER_BASE_URL",
      `endpoint ${id} was registered at ${state.baseUrl}, and ${this.run.origin.baseUrl} does not have it. If you changed ` +
        `the base URL by mistake, restore ${this.#placeOf("baseUrl")} and run \`pulumi up\`. (\`pulumi refresh\` and \`pulumi destroy\` ` +
        "use the settings of the last `pulumi up`, unless you add --run-program.) To move the endpoint to another service, give " +
        "it a WebhooksProvider with a new name. If the old service no longer exists, run `pulumi state delete` for the resource.",
      { cause },
    );
  }

  /** Where this run's settings come from, as advice names it. */
  #placeOf(setting: "apiKey" | "baseUrl"): string {
    const { provider } = this.run.origin;
    return provider ? `${setting} of the provider ${JSON.stringify(provider)}` : `webhooks:${setting}`;
  }
}

/** Returns what the verbs get of a resource's state as a trace of its endpoint. */
export function traceOf(id: string, state: EndpointState): Trace {
  return traceOfResource({ id, outputs: { ...state } });
}
