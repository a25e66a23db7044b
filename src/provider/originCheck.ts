import { foreign } from "../shared/escape";
import { commandLine } from "../shared/words";
import type { Context } from "./context";
import { EndpointError } from "./errors";
import type { Row } from "./facts/existence";
import { isRecordedUrl, sameness } from "./facts/same";
import { type EndpointState, isPending } from "./state";

/**
 * Compares where a resource was registered with where this run's settings lead. A state without an origin, which an import file may
 * leave, counts as registered here. Elsewhere, ids may count anew, so an endpoint is the same only if its url and type are, too.
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
  isSameEndpoint(id: string, state: EndpointState, endpoint: Row | undefined): boolean {
    if (endpoint === undefined) return false;
    const { url } = endpoint;
    // A row that cannot be read is known by its url.
    const listed = "type" in endpoint ? endpoint : { url: url ?? "", type: state.type, createdAt: null };
    const isEqual = listed.type === state.type && isRecordedUrl(state, listed.url);
    // What a program only reads is whatever has its id.
    if (this.isElsewhere(state) || state.external) return isEqual || !this.isElsewhere(state);
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
    if (!this.isElsewhere(state) || isPending(state)) return true;
    return this.isSameEndpoint(id, state, await this.context.existence.find(id, state));
  }

  /**
   * Returns why an endpoint that is not here has to be registered again:
   * - `provider`: the program moved the resource to a provider of another name, with another base URL
   * - `account`: it was registered with another key. A rotated key would find it
   *
   * @throws EndpointError `OTHER_BASE_URL` when the base URL changed without that
   */
  reasonToMove(id: string, state: EndpointState): "account" | "provider" {
    if (this.isOtherService(state) && this.isOtherProvider(state)) return "provider";
    this.assertSameService(id, state);
    this.context.log.warn(
      "the account of the current API key doesn't have the endpoints that were registered with the previous key, so they are registered " +
        "again. If you changed the key by mistake, stop here and restore it.",
    );
    return "account";
  }

  /** Returns whether a resource has a provider of another name than the recorded one, so that its move is declared in the program. */
  isOtherProvider({ provider }: EndpointState): boolean {
    return provider !== this.context.origin.provider;
  }

  /**
   * Concludes that a recorded endpoint no longer exists.
   *
   * @throws EndpointError `OTHER_BASE_URL` when it was recorded with another base URL than today's
   */
  concludeGone(id: string, state: EndpointState, cause?: unknown): void {
    this.assertSameService(id, state, cause);
    if (!this.isElsewhere(state)) return;
    this.context.log.warn(
      `endpoint ${foreign(id)} is not in the account of the current API key, so it counts as deleted. It was registered with a different key. ` +
        "If that key belongs to another account, delete the endpoint there.",
    );
  }

  /** @throws EndpointError `OTHER_BASE_URL` when a resource was recorded with another base URL than today's */
  assertSameService(id: string, state: EndpointState, cause?: unknown): void {
    if (!this.isOtherService(state)) return;
    throw new EndpointError(
      "OTHER_BASE_URL",
      `endpoint ${foreign(id)} was registered at ${foreign(String(state.baseUrl))}, and ${this.context.origin.baseUrl} does not have it. Ways on:`,
      {
        cause,
        ways: [
          "If you changed the base URL by mistake, restore it and run `pulumi up`. (`pulumi refresh` and `pulumi destroy` use the settings of the last `pulumi up`, unless you add --run-program.)",
          "To move the endpoint to another service, give it a WebhooksProvider with a new name.",
          "If the old service no longer exists, run `pulumi state delete` for the resource.",
        ],
      },
    );
  }
}
