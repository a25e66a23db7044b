import { type Clock, sleep } from "../../client/clock";
import {
  type Deployment,
  idsInState,
  interruptedRegistrations,
  type Resource,
} from "../../settlement/deployment";
import type { Account } from "../account";
import type { InterruptedRun } from "./interruptedRun";
import { decide, type Outcome } from "./outcome";
import { type InterruptedRegistration, isRecordedSince, registrationsOf } from "./registration";

/** How far the clocks of this machine and of the service may be apart after they were compared, in milliseconds. */
const CLOCK_TOLERANCE_MS = 5_000;
/** How long to wait between two looks at the service, in milliseconds. */
const PAUSE_MS = 2_000;

export interface LookUpOptions {
  readonly accountOf: (resource: Resource) => Account;
  readonly run: InterruptedRun;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/**
 * Looks up what became of each interrupted registration, in the state's order. Waits for those that may still be made: a
 * registration counts as never made as late as it does for `up`.
 *
 * @param plain the state with its secrets decrypted
 */
export async function lookUpOutcomes(plain: Deployment, options: LookUpOptions): Promise<Outcome[]> {
  const resources = interruptedRegistrations(plain);
  const byAccount = new Map<Account, InterruptedRegistration[]>();
  for (const registration of registrationsOf(plain)) {
    const resource = resources[registration.index];
    if (resource === undefined) continue;
    const account = options.accountOf(resource);
    byAccount.set(account, [...(byAccount.get(account) ?? []), registration]);
  }
  const outcomes: Outcome[] = [];
  for (const [account, registrations] of byAccount)
    outcomes.push(...(await lookUpAt(account, registrations, plain, options)));
  return outcomes.sort((a, b) => a.registration.index - b.registration.index);
}

async function lookUpAt(
  { client, patienceMs }: Account,
  registrations: readonly InterruptedRegistration[],
  plain: Deployment,
  { run, clock, say }: LookUpOptions,
): Promise<Outcome[]> {
  const recorded = idsInState(plain);
  const mayStillBeMade = (outcome: Outcome): boolean =>
    outcome.kind === "not-made"
      ? !isRecordedSince(run.until, outcome.registration, plain)
      : outcome.kind === "unclear" && outcome.mayAppear;

  let skew: number | undefined;
  for (let isFirst = true; ; isFirst = false) {
    const list = await client.list();
    skew ??= list.serverTime === null ? 0 : list.serverTime - clock.date();
    const outcomes = decide({ registrations, list, recorded, run: onServiceClock(run, skew, patienceMs) });
    // Not longer than for a run that was interrupted just now: this machine's clock may have been put back.
    const left = Math.min(run.until + patienceMs - clock.date(), patienceMs);
    if (left <= 0 || !outcomes.some(mayStillBeMade)) return outcomes;
    if (isFirst)
      say(
        `Waiting up to ${Math.ceil(left / 1000)} s in case a registration of the interrupted run completes late.`,
      );
    await sleep(Math.min(PAUSE_MS, left), { clock, signal: undefined });
  }
}

function onServiceClock(
  { notBefore, from, until }: InterruptedRun,
  skew: number,
  patienceMs: number,
): InterruptedRun {
  return {
    notBefore: notBefore + skew - CLOCK_TOLERANCE_MS,
    from: from + skew - CLOCK_TOLERANCE_MS,
    until: until + skew + patienceMs + CLOCK_TOLERANCE_MS,
  };
}
