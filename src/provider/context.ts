import type { Clock } from "../client/clock";
import type { Origin } from "../shared/permanent";
import type { EngineLog } from "./engine";
import type { Memory } from "./memory";
import type { Service } from "./service";
import type { Stack } from "./stack";

/** What the parts of a run share. */
export interface Context {
  readonly clock: Clock;
  readonly log: EngineLog;
  /** Fires when the user cancels the run, or the engine is gone. */
  readonly cancelled: AbortSignal | undefined;
  readonly origin: Origin;
  readonly memory: Memory;
  readonly service: Service;
  readonly stack: Stack;
  readonly timeoutMs: number;
  readonly graceMs: number;
}
