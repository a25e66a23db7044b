import { checkEventName } from "../arguments";
import { CliError } from "../errors";
import type { SecretFlags } from "../secrets/secrets";

const MOST_REPEATS = 1_000;

export interface SendFlags extends SecretFlags {
  readonly to?: string;
  readonly endpoint?: string;
  readonly data?: string;
  readonly anyEvent?: boolean;
  readonly capture?: string;
  readonly id?: string;
  readonly signAnew?: boolean;
  readonly newId?: boolean;
  readonly tamper?: boolean;
  /** In milliseconds. */
  readonly age: number;
  readonly repeat: number;
  readonly json?: boolean;
}

/** Checks that the options go together. @throws CliError `WRONG_USE` */
export function checkFlags(event: string | undefined, flags: SendFlags): void {
  const problem = problemOf(event, flags);
  if (problem !== undefined) throw new CliError("WRONG_USE", problem);
  if (event !== undefined) checkEventName(event, { any: flags.anyEvent === true });
}

function problemOf(event: string | undefined, flags: SendFlags): string | undefined {
  const { to, endpoint, capture, data, anyEvent, id, signAnew = false, newId = false, age, repeat } = flags;
  if (repeat < 1 || repeat > MOST_REPEATS) return `--repeat must be from 1 to ${MOST_REPEATS}`;
  if (to !== undefined && endpoint !== undefined)
    return "--to and --endpoint both name the receiver, so leave out one of them";
  if (capture === undefined) {
    if (event === undefined)
      return "the event is missing, such as job.succeeded; or name a captured delivery with --capture";
    return id !== undefined || signAnew || newId
      ? "--id, --sign-anew and --new-id are for --capture"
      : undefined;
  }
  if (event !== undefined || data !== undefined || anyEvent === true)
    return "the delivery of --capture has its event and its data, so leave out the event, --data and --any-event";
  if (newId && !signAnew) return "--new-id needs --sign-anew, because the signature covers the id";
  return age > 0 && !signAnew
    ? "--age needs --sign-anew, because the signature covers the timestamp"
    : undefined;
}
