import type { DeliveryRecord, LoggedAttempt } from "./deliveryRecord";
import type { EmulatedEvent } from "./event";
import type { Fault, FaultOptions } from "./faults";
import type { LoggedRequest } from "./loggedRequest";
import type { EmulatedEndpoint, EmulatedEndpointType, EndpointInput } from "./registry";
import type { Job, JobOptions } from "./runJob";
import type { RotationOptions, SecretRotation } from "./secrets";

/** A running emulator. Its methods bypass the API, so clients see their effects only through later requests. */
export interface Emulator {
  /** The base URL, such as `http://127.0.0.1:34567`. A browser on this machine sees the emulator's page there. */
  readonly url: string;
  /** The current key of the account `default`. `rotateKey` changes it. */
  readonly apiKey: string;
  /** Returns the registered endpoints of one account, or of all, oldest first. */
  endpoints(account?: string): EmulatedEndpoint[];
  /** Registers an endpoint without a request. */
  add(input: EndpointInput, account?: string): EmulatedEndpoint;
  /** Deletes an endpoint without a request. @throws EmulatorError for an id that is not registered */
  remove(id: string): EmulatedEndpoint;
  /** Changes an endpoint, which the API cannot do. @throws EmulatorError for an id that is not registered */
  edit(id: string, change: Partial<EndpointInput>): EmulatedEndpoint;
  /**
   * Replaces an API key. The old key stops working at once; the new one opens the same account.
   *
   * @throws EmulatorError for an old key that is unknown, or a new one that is empty
   */
  rotateKey(oldKey: string, newKey: string): void;
  /** Makes API requests fail. If several faults match a request, the one added first applies. */
  fault(options: FaultOptions): Fault;
  /** Removes every fault. */
  clearFaults(): void;
  /** The last 100,000 requests to the management API, oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** Empties `requests`. */
  clearRequests(): void;
  /**
   * Sends an event to each matching endpoint, and retries after a failure: a response other than 2xx, a timeout, or no
   * connection. A Retry-After header makes the wait longer. Resolves when nothing more will be sent.
   *
   * @throws EmulatorError for an endpoint that is not registered
   */
  deliver(event: EmulatedEvent): Promise<DeliveryRecord>;
  /** Delivers the events of one job: `job.running`, then `job.succeeded` or `job.failed`. */
  runJob(options?: JobOptions): Promise<Job>;
  /**
   * Repeats, byte for byte, the last attempt with this `webhook-id`, or the last attempt of all.
   *
   * @throws EmulatorError when there is none
   */
  replay(id?: string): Promise<LoggedAttempt>;
  /** The last 100,000 delivery attempts, oldest first. */
  readonly deliveries: readonly LoggedAttempt[];
  /** Empties `deliveries`. */
  clearDeliveries(): void;
  /** Returns the signing secrets for endpoints of this type, newest first. Default `production`. */
  secrets(type?: EmulatedEndpointType): readonly string[];
  /** Adds a signing secret. Deliveries carry a signature of each secret until the rotation is finished. */
  rotateSecret(options?: RotationOptions): SecretRotation;
  /** Closes every connection and refuses new ones until `goOnline`. Endpoints, faults and logs are kept. */
  goOffline(): Promise<void>;
  /** Accepts connections again on the same port, after `goOffline()`. */
  goOnline(): Promise<void>;
  /** Ends every connection, wait and delivery at once, and frees the port. */
  close(): Promise<void>;
}
