import type { Clock } from "../client/clock";
import type { Origin } from "../shared/permanent";
import type { EngineLog } from "./engine";
import type { Accounts } from "./facts/account";
import type { Declarations } from "./facts/declarations";
import type { Existence } from "./facts/existence";
import type { NotedEndpoints } from "./facts/notedEndpoints";
import type { Stack } from "./facts/stack";
import type { UnansweredRegistrations } from "./facts/unansweredRegistrations";
import type { Service } from "./service";

/** What the parts of a run share. */
export interface Context {
  readonly clock: Clock;
  readonly log: EngineLog;
  /** Fires when the user cancels the run, or the engine is gone. */
  readonly cancelled: AbortSignal | undefined;
  readonly origin: Origin;
  readonly endpoints: NotedEndpoints;
  readonly registrations: UnansweredRegistrations;
  readonly declarations: Declarations;
  readonly service: Service;
  readonly accounts: Accounts;
  readonly existence: Existence;
  readonly stack: Stack;
  readonly timeoutMs: number;
  readonly graceMs: number;
}
