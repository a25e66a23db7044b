import type { Deliveries } from "../../deliveries/deliveries";
import type { Secrets } from "../../deliveries/secrets";
import type { Faults } from "../../faults";
import type { Log, LoggedRequest } from "../../log";
import type { Registry } from "../../registry";
import type { Timers } from "../../timers";

/** The parts of an emulator that its page shows and changes. */
export interface PageContext {
  readonly registry: Registry;
  readonly deliveries: Deliveries;
  readonly secrets: Secrets;
  readonly faults: Faults;
  readonly requests: Log<LoggedRequest>;
  readonly timers: Timers;
  readonly homeAccount: string;
  readonly basePath: string;
  readonly apiKey: () => string;
  readonly now: () => number;
}
