import type { Origin } from "./trace";

/** The run, or the command, that asks what became of registrations. */
export interface Asker {
  readonly origin: Origin;
  /** What all processes of one command of the engine have in common. */
  readonly run: string;
  /** What each provider of a command has for itself. */
  readonly sender: string;
  readonly timeoutMs: number;
  readonly patienceMs: number;
  /** The service's clock less this machine's, in milliseconds; null if unknown. */
  readonly skew: () => number | null;
  /** True for a person's command: overtaken operations count too, though nothing takes what they made, and what other keys sent. */
  readonly countsAll?: boolean;
}
