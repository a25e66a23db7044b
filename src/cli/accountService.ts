import {
  type Endpoint,
  type EndpointList,
  type Registration,
  WebhookEndpointNotFoundError,
  type WebhooksClient,
} from "../client";
import type { Clock } from "../client/clock";

/** An account's service as the settlement needs it: it remembers the service's time. */
export class AccountService {
  /** The service's time, and when it was told on a clock of ours that never goes back. */
  #told: { readonly time: number; readonly at: number } | undefined;

  constructor(
    private readonly client: WebhooksClient,
    private readonly clock: Clock,
  ) {}

  list = async (): Promise<EndpointList> => {
    const list = await this.client.list();
    if (list.serverTime !== null) this.#told = { time: list.serverTime, at: this.clock.now() };
    return list;
  };

  /** Returns undefined if the service has no endpoint with this id. */
  find = (id: string): Promise<Endpoint | undefined> =>
    this.client.get(id).catch((error: unknown) => {
      if (error instanceof WebhookEndpointNotFoundError) return undefined;
      throw error;
    });

  /** @param onSend called right before each attempt */
  register = (registration: Registration, onSend: () => void): Promise<Endpoint> =>
    this.client.register(registration, { onSend });

  /** Returns the service's time, in milliseconds since 1970; null until a list has told it. */
  time = (): number | null =>
    this.#told === undefined ? null : this.#told.time + this.clock.now() - this.#told.at;

  /** Returns the service's clock less this machine's, in milliseconds; null until a list has told it. */
  skew = (): number | null => {
    const time = this.time();
    return time === null ? null : time - this.clock.date();
  };
}
