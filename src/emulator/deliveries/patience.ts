import { EmulatorError } from "../errors";
import { checkDelay } from "../timers";
import type { LoggedAttempt } from "./event";

interface PatienceOptions {
  /** What is waited for, such as `The job job_1`. */
  readonly what: string;
  readonly timeoutMs: number | undefined;
  readonly warn: (message: string) => void;
}

/** Waits for deliveries on behalf of a program: warns once if a receiver refuses twice, and gives up in time. */
export class Patience {
  #warned = false;
  #failed: LoggedAttempt | undefined;

  /** @throws EmulatorError for an invalid timeout */
  constructor(private readonly options: PatienceOptions) {
    if (options.timeoutMs !== undefined) checkDelay("timeoutMs", options.timeoutMs);
  }

  /** Takes note of an attempt that failed and that another one follows. */
  readonly onRetry = (attempt: LoggedAttempt): void => {
    this.#failed = attempt;
    if (this.#warned || attempt.attempt < 2) return;
    this.#warned = true;
    const next = `The next attempt follows in ${Math.ceil((attempt.retryInMs ?? 0) / 1000)} s.`;
    this.options.warn(
      `${sentence(resultOf(attempt))}. ${next} ${this.options.what} ends after the last attempt. Correct the receiver. In a program, timeoutMs ends the wait earlier.`,
    );
  };

  /** @throws EmulatorError when the time is up. The retries go on. */
  async wait<T>(work: Promise<T>): Promise<T> {
    const { what, timeoutMs } = this.options;
    if (timeoutMs === undefined) return work;
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const reason = this.#failed === undefined ? "there is no answer yet" : resultOf(this.#failed);
        const message = `${what} was not delivered within ${timeoutMs} ms: ${reason}. The retries go on. Correct the receiver.`;
        reject(new EmulatorError("EMULATOR_TIMEOUT", message));
      }, timeoutMs);
    });
    try {
      return await Promise.race([work, timeUp]);
    } finally {
      clearTimeout(timer);
      work.catch(() => undefined);
    }
  }
}

/** Names the endpoint by its id, because its url can contain a secret. */
function resultOf({ endpointId, statusCode, error, attempt, type }: LoggedAttempt): string {
  const which = `attempt ${attempt} of ${type}`;
  return statusCode === null
    ? `endpoint ${endpointId} did not answer (${error}) ${which}`
    : `endpoint ${endpointId} answered ${statusCode} to ${which}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
