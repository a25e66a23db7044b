import type { Delivery, EmulatedEvent, LoggedAttempt } from "./deliveries/event";
import type { Job, JobOptions } from "./deliveries/job";
import type { RotationOptions, SecretRotation } from "./deliveries/secrets";
import type { EmulatedEndpoint, EmulatedEndpointType, EndpointInput } from "./endpoint";
import type { Fault, PlantedFault } from "./fault";
import type { LoggedRequest } from "./requestLog";

/** A running emulator. What is done here by method is done behind the back of the API's clients. */
export interface Emulator {
  /** The base URL, such as `http://127.0.0.1:34567`. */
  readonly url: string;
  /** The key of the account `default`, also after it was rotated. */
  readonly apiKey: string;
  /** What is registered now, oldest first, in one account or in all. */
  endpoints(account?: string): EmulatedEndpoint[];
  /** Registers without a request. Nothing is checked but the account, by default that of `apiKey`. */
  add(input: EndpointInput, account?: string): EmulatedEndpoint;
  /** @throws EmulatorError for an id that is not registered */
  remove(id: string): EmulatedEndpoint;
  /** Changes what the API cannot. @throws EmulatorError for an id that is not registered */
  edit(id: string, change: Partial<EndpointInput>): EmulatedEndpoint;
  /** The old key stops working at once; the new one opens the same account. */
  rotateKey(oldKey: string, newKey: string): void;
  /** Makes requests go wrong. Several faults are met in the order of planting. */
  fault(fault: Fault): PlantedFault;
  clearFaults(): void;
  /** The requests to the management API, oldest first: the last 100,000. */
  readonly requests: readonly LoggedRequest[];
  clearRequests(): void;
  /**
   * Sends an event to each endpoint that it matches, and again after a failure (any answer but 2xx, none in time, no
   * connection), later where the receiver asks by Retry-After. Gives what became of it in the end.
   *
   * @throws EmulatorError for an endpoint that is not registered
   */
  deliver(event: EmulatedEvent): Promise<Delivery>;
  /** Delivers what the service does for one job: `job.running`, then `job.succeeded` or `job.failed`. */
  runJob(options?: JobOptions): Promise<Job>;
  /** Sends again, byte for byte, the last attempt of the delivery with this `webhook-id`, by default of any. */
  replay(id?: string): Promise<LoggedAttempt>;
  /** The attempts of all deliveries, oldest first: the last 100,000. */
  readonly deliveries: readonly LoggedAttempt[];
  clearDeliveries(): void;
  /** What deliveries to endpoints of this type are signed with, newest first. Default `production`. */
  secrets(type?: EmulatedEndpointType): readonly string[];
  /** A new secret signs beside the old ones, until the rotation is finished. */
  rotateSecret(options?: RotationOptions): SecretRotation;
  /** Ends every connection and refuses new ones, until `goOnline`. Endpoints, faults and logs stay. */
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
  /**
   * Ends every connection, wait and delivery at once and frees the port.
   *
   * @throws EmulatorError when the data file could not be written
   */
  close(): Promise<void>;
}
