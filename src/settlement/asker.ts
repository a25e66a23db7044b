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
  /** Whether overtaken operations count too: nothing takes what they made, so only a person's command asks for that. */
  readonly countsOvertaken?: boolean;
}
