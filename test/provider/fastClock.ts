import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Clock } from "../../src/client/clock";
import { MAX_DELAY_MS, Timers } from "../../src/emulator/timers";

/** When the accelerated time begins, in milliseconds since 1970: not on a whole second, which would tell of an inexact clock. */
const epoch = Date.UTC(2026, 0, 1, 0, 0, 0, 789);
/** Milliseconds from one beat to the next, and the most that one of them counts. */
const BEAT_MS = 2;
const MOST_MS = 5;

interface Beats {
  passed(): number;
  beat(until: number): void;
  clock(speed: number, since: number, epoch: number): Clock;
}

/** Loaded by this process, and by each plugin's before anything else. */
export const beatsFile = join(__dirname, "beat.js");
const beats: Beats = require("./beat.js");
const realTime = beats.clock(1, 0, 0);
const followers = new Set<ChildProcess>();
let timer: NodeJS.Timeout | undefined;

/**
 * Lets time pass for another process, too, until it ends. It was started with `beatsFile` loaded, and FOLLOWS_BEATS set. Before it is
 * told the time, its clock is that of the first beat: what it did by then would be long ago.
 */
export async function follow(child: ChildProcess): Promise<void> {
  await send(child, beats.passed());
  followers.add(child);
  child.once("exit", () => followers.delete(child));
}

/** The time that has really passed counts, but no more than all processes have got to: one that stands still stops the time. */
function nextBeat(last = performance.now()): void {
  timer = setTimeout(async () => {
    const now = performance.now();
    const until = beats.passed() + Math.min(now - last, MOST_MS);
    await Promise.all([...followers].map((child) => send(child, until)));
    beats.beat(until);
    if (timer !== undefined) nextBeat(now);
  }, BEAT_MS).unref();
}

function send(child: ChildProcess, until: number): Promise<void> {
  return new Promise((resolve) => {
    if (!child.connected) return resolve();
    const done = () => {
      child.off("message", done).off("exit", done);
      resolve();
    };
    child.once("message", done).once("exit", done);
    child.send(until, () => {});
  });
}

// The emulator's delays count by beats, too.
const { sleep } = Timers.prototype;
Timers.prototype.sleep = function (milliseconds) {
  if (this.signal.aborted || milliseconds <= 0) return sleep.call(this, milliseconds);
  const passed = new Promise<true>((resolve) => realTime.after(milliseconds, () => resolve(true)));
  return Promise.race([passed, sleep.call(this, MAX_DELAY_MS)]);
};

afterAll(() => {
  clearTimeout(timer);
  timer = undefined;
});

/**
 * Time that runs so many times faster than it does: the provider's time-outs and its looking for lost registrations take
 * minutes, and here moments. It waits for a busy machine: what is late because a process stood still is not late by it. The
 * service must live by the same clock.
 */
export class FastClock implements Clock {
  /** Code for the same clock in another process. */
  readonly code: string;
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly date: () => number;
  readonly after: Clock["after"];

  constructor(speed: number) {
    const since = beats.passed();
    this.code = `require(${JSON.stringify(beatsFile)}).clock(${speed}, ${since}, ${epoch})`;
    ({ now: this.now, date: this.date, after: this.after } = beats.clock(speed, since, epoch));
    if (timer === undefined) nextBeat();
  }

  /** Waits for so many milliseconds of this clock. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }
}
