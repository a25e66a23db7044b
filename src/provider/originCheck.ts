import { isReadable, type Row } from "../client/endpoint";
import { commandLine } from "../shared/commandLine";
import { foreign } from "../shared/escape";
import type { Context } from "./context";
import { EndpointError } from "./errors";
import { isAsRecorded, isMadeLater, sameness } from "./facts/same";
import { endpointsLike } from "./facts/urlAndType";
import { type EndpointState, isPending } from "./state";

/**
 * Compares where a resource was registered with where this run's settings lead. A state without an origin, which an import file may
 * leave, counts as registered here. At another base URL or with the key of another account, ids may count anew, so an endpoint is the same only if its
 * url and type are, too.
 */
export class OriginCheck {
  constructor(private readonly context: Context) {}

  /** Returns whether a resource was registered at another base URL than today's. */
  isOtherService({ baseUrl }: Partial<EndpointState>): boolean {
    return (baseUrl ?? this.context.origin.baseUrl) !== this.context.origin.baseUrl;
  }

  /** Returns whether a resource was registered at another base URL or with another key than today's. */
  isElsewhere(state: Partial<EndpointState>): boolean {
    const { origin } = this.context;
    return this.isOtherService(state) || (state.account ?? origin.account) !== origin.account;
  }

  /**
   * Returns whether what today's service has under a recorded id is that endpoint. What cannot be told apart counts as gone, is left alone, and
   * is named.
   */
  async isSameEndpoint(id: string, state: EndpointState, endpoint: Row | undefined): Promise<boolean> {
    if (endpoint === undefined) return false;
    const { url } = endpoint;
    // A row that cannot be read is known by its url.
    const listed = isReadable(endpoint) ? endpoint : { url: url ?? "", type: state.type, createdAt: null };
    const isEqual = isAsRecorded(state, listed);
    // With a rotated key, its id may have been used again meanwhile. At another base URL, times may be others.
    if (isEqual && this.isElsewhere(state))
      return this.isOtherService(state) || !isMadeLater(listed, state, this.context.graceMs);
    const isElsewhere = this.isOtherService(state) || !(await this.#isOurs(state));
    // What a program only reads is whatever has its id.
    if (isElsewhere || state.external) return !isElsewhere;
    const answer = sameness(state, id, listed, this.context.graceMs);
    if (answer === "unknown")
      this.context.log.warn(
        `endpoint ${foreign(id)} has another url or type at the service than this stack recorded, and nothing tells whether it is the same endpoint or ` +
          "one that got its id again. It counts as gone, and is left as it is. If nobody needs it, delete it with " +
          `${commandLine("delete", id)}; to manage it, set adoptId.`,
      );
    return answer === "same";
  }

  /** Returns whether a recorded endpoint is at today's service, as far as that has to be asked. */
  async isHere(id: string, state: EndpointState): Promise<boolean> {
    this.context.accounts.note(id, state);
    if (!this.isElsewhere(state) || isPending(state)) return true;
    return this.isSameEndpoint(id, state, await this.context.existence.find(id, state));
  }

  /**
   * Returns why an endpoint that is not here has to be registered again:
   * - `provider`: the program moved the resource to a provider of another name, with another base URL
   * - `account`: the same, with another key; or it was registered with a key that was rotated since, and is gone
   *
   * @throws EndpointError `OTHER_BASE_URL` or `OTHER_ACCOUNT` when the base URL or the account changed without such a move
   */
  async reasonToMove(id: string, state: EndpointState): Promise<"account" | "provider"> {
    if (this.isOtherProvider(state)) return this.isOtherService(state) ? "provider" : "account";
    await this.#assertSameOrigin(id, state);
    this.context.log.warn(`endpoint ${foreign(id)} is gone, so it is registered again.`);
    return "account";
  }

  /** Returns whether a resource was recorded with a key of today's account. */
  async #isOurs({ account }: Partial<EndpointState>): Promise<boolean> {
    return account === undefined || this.context.accounts.isOurs(account);
  }

  /** Returns whether a resource has a provider of another name than the recorded one, so that its move is declared in the program. */
  isOtherProvider({ provider }: EndpointState): boolean {
    return provider !== this.context.origin.provider;
  }

  /**
   * Concludes that a recorded endpoint no longer exists.
   *
   * @param isDeletion what an earlier move left behind may count as gone, too
   * @throws EndpointError `OTHER_BASE_URL` or `OTHER_ACCOUNT` when it was recorded at another service than today's
   */
  async concludeGone(id: string, state: EndpointState, { isDeletion = false } = {}): Promise<void> {
    const { accounts, log } = this.context;
    const mayBeLeft = isDeletion && !this.isOtherService(state) && this.isElsewhere(state);
    if (mayBeLeft && !(await this.#isOurs(state)) && (await accounts.isLeftover(id, state)))
      return log.warn(
        `endpoint ${foreign(id)}, which was replaced, is not in the account of today's API key, so it counts as deleted. If the key that registered it ` +
          `(fingerprint ${foreign(state.account)}) is of another account, the endpoint is still there, and delivers: set that key, and run ${commandLine("delete", id)}.`,
      );
    await this.#assertSameOrigin(id, state);
  }

  /**
   * Refuses to settle a pending resource elsewhere. An endpoint that may be what it registered shows that the account is the same.
   *
   * @throws EndpointError `OTHER_BASE_URL` or `OTHER_ACCOUNT`
   */
  async assertPendingIsHere(id: string, state: EndpointState): Promise<void> {
    if (!this.isOtherService(state) && this.isElsewhere(state)) {
      const equal = endpointsLike(await this.context.service.list(), state);
      if (equal.length > 0) return;
    }
    await this.#assertSameOrigin(id, state);
  }

  /** @throws EndpointError `OTHER_BASE_URL` or `OTHER_ACCOUNT` when a resource was recorded at another service than today's */
  async #assertSameOrigin(id: string, state: EndpointState): Promise<void> {
    const { accounts } = this.context;
    this.#assertSameService(id, state);
    if (!this.isElsewhere(state) || this.isOtherProvider(state)) return;
    if (!(await this.#isOurs(state))) throw await accounts.stop(`endpoint ${foreign(id)}`, state.account);
  }

  #assertSameService(id: string, state: EndpointState): void {
    if (!this.isOtherService(state)) return;
    throw new EndpointError(
      "OTHER_BASE_URL",
      `endpoint ${foreign(id)} was registered at ${foreign(String(state.baseUrl))}, and ${this.context.origin.baseUrl} does not have it. Ways on:`,
      {
        ways: [
          "If you changed the base URL by mistake, restore it and run `pulumi up`. (`pulumi refresh` and `pulumi destroy` use the settings of the last `pulumi up`, unless you add --run-program.)",
          "To move the endpoint to another service, give it a WebhooksProvider with a new name.",
          "If the old service no longer exists, run `pulumi state delete` for the resource.",
        ],
      },
    );
  }
}
