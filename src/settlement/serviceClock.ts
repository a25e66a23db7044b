import type { EndpointList } from "../client";
import type { Clock } from "../client/clock";

/** The service's clock, as its lists tell it. */
export class ServiceClock {
  /** The service's time, and when it was told on a clock of ours that never goes back. */
  #told: { readonly time: number; readonly at: number } | undefined;

  constructor(private readonly clock: Clock) {}

  /** Notes the time that a list tells, and returns the list. */
  read = (list: EndpointList): EndpointList => {
    if (list.serverTime !== null) this.#told = { time: list.serverTime, at: this.clock.now() };
    return list;
  };

  /** Returns the service's time, in milliseconds since 1970; null until a list has told it. */
  time = (): number | null =>
    this.#told === undefined ? null : Math.round(this.#told.time + this.clock.now() - this.#told.at);

  /** Returns the service's clock less this machine's, in milliseconds; null until a list has told it. */
  skew = (): number | null => {
    const time = this.time();
    return time === null ? null : time - this.clock.date();
  };
}
