import type { Endpoint, EndpointList, Registration, WebhooksClient } from "../client";
import type { Clock } from "../client/clock";
import { undefinedIfGone } from "../client/errors";
import { ServiceClock } from "../settlement/serviceClock";

/** An account's service as the settlement needs it: it remembers the service's time. */
export class AccountService extends ServiceClock {
  constructor(
    private readonly client: WebhooksClient,
    clock: Clock,
  ) {
    super(clock);
  }

  list = async (): Promise<EndpointList> => this.noted(await this.client.list());

  /** Returns undefined if the service has no endpoint with this id. */
  find = (id: string): Promise<Endpoint | undefined> => this.client.get(id).catch(undefinedIfGone);

  /** @param onSend called right before each attempt */
  register = (registration: Registration, onSend: () => void): Promise<Endpoint> =>
    this.client.register(registration, { onSend });
}
