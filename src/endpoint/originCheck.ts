import { EndpointError } from "./errors";
import type { Run } from "./run";
import type { EndpointState } from "./types";

/** After how many reads in a row that find nothing the API key is suspected to be another account's. */
const SUSPICIOUS_MISSES = 3;

/**
 * Compares where a resource was registered with where this run's settings lead. A state without an origin, which an import
 * file may leave, counts as registered there.
 */
export class OriginCheck {
  #misses = 0;

  constructor(private readonly run: Run) {}

  /**
   * Returns whether an endpoint has to be registered anew because today's key is another account's: it was registered with
   * another key, and today's does not find it. A rotated key finds it. Another base URL only warns, because the service may
   * have moved.
   */
  async isElsewhere(id: string, state: EndpointState): Promise<boolean> {
    const { log, origin, service } = this.run;
    const { baseUrl, account } = { ...origin, ...state };
    if (baseUrl !== origin.baseUrl) {
      log.warn(
        `endpoints registered at ${baseUrl} are left as they are, although the base URL is now ${origin.baseUrl}. If ` +
          "the service has moved, `pulumi refresh` records that. If this is another service, set the base URL back, destroy " +
          "or rename the endpoints, and then change it.",
      );
      return false;
    }
    if (account === origin.account || (await service.find(id))) return false;
    log.warn(
      "endpoints registered with another API key are not in the account of today's key, so they are registered there anew. " +
        "If the key was changed by mistake, stop here and set webhooks:apiKey back.",
    );
    return true;
  }

  /**
   * Concludes that a recorded endpoint no longer exists.
   *
   * @throws EndpointError `OTHER_BASE_URL` when it was recorded with another base URL than today's
   */
  concludeGone(id: string, state: EndpointState, cause?: unknown): void {
    this.assertSameService(id, state, cause);
    const { origin } = this.run;
    if ((state.account ?? origin.account) === origin.account) return;
    this.run.log.warn(
      `endpoint ${id} is not in the account of today's API key, so it counts as deleted. It was registered with another key: ` +
        "if that key belongs to another account, delete the endpoint there.",
    );
  }

  /** Counts an endpoint that a refresh did not find, and warns when the first few are all missing. */
  countMiss(): void {
    this.#misses += 1;
    if (this.run.service.hasFound || this.#misses !== SUSPICIOUS_MISSES) return;
    this.run.log.warn(
      `the service has none of the first ${SUSPICIOUS_MISSES} endpoints looked for. If that is a surprise, the API key may ` +
        "belong to another account: check webhooks:apiKey before the next `pulumi up` registers them anew.",
    );
  }

  /** @throws EndpointError `OTHER_BASE_URL` when a resource was recorded with another base URL than today's */
  assertSameService(id: string, state: EndpointState, cause?: unknown): void {
    const { baseUrl } = { ...this.run.origin, ...state };
    if (baseUrl === this.run.origin.baseUrl) return;
    throw new EndpointError(
      "OTHER_BASE_URL",
      `endpoint ${id} is not at ${this.run.origin.baseUrl}. It was registered at ${baseUrl}, so it does not count as deleted. ` +
        "Set webhooks:baseUrl back and run `pulumi up`, or add --run-program: a plain `pulumi refresh` or `pulumi destroy` " +
        "uses the settings of the last `pulumi up`. If that service no longer exists, run `pulumi state delete` for the " +
        "resource.",
      { cause },
    );
  }
}
