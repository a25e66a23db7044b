import type { EndpointList } from "../client";
import type { Clock } from "../client/clock";
import { CLOCK_TOLERANCE_MS } from "./time";

interface Moment {
  readonly now: number;
  readonly date: number;
}

/** The service's clock, as its lists tell it. */
export class ServiceClock {
  /** The service's time, and when it was told. */
  #told: { readonly time: number; readonly at: Moment } | undefined;

  constructor(private readonly clock: Clock) {}

  /** Returns this moment on both clocks: the one that never goes back may stand still while the machine sleeps. */
  protected moment(): Moment {
    return { now: this.clock.now(), date: this.clock.date() };
  }

  /** Returns how long ago a moment was at least, in milliseconds. */
  protected since({ now, date }: Moment): number {
    return Math.max(this.clock.now() - now, this.clock.date() - date);
  }

  /** Notes the time that a list tells, and returns the list. */
  noted = (list: EndpointList): EndpointList => {
    if (list.serverTime !== null) this.#told = { time: list.serverTime, at: this.moment() };
    return list;
  };

  /** Returns the service's time, in milliseconds since 1970; null until a list has told it, also after the machine has slept. */
  time = (): number | null => {
    if (this.#told === undefined) return null;
    const { time, at } = this.#told;
    const passed = this.clock.now() - at.now;
    return this.since(at) - passed > CLOCK_TOLERANCE_MS ? null : Math.round(time + passed);
  };

  /** Returns the service's clock less this machine's, in milliseconds; null until a list has told it. */
  skew = (): number | null => {
    const time = this.time();
    return time === null ? null : time - this.clock.date();
  };
}
