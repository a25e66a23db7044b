import fc from "fast-check";
import type { Clock } from "../../src/client";
import { Gate, mostRefusals, type Pass } from "../../src/client/gate";

/** Time that moves only when it is told to, and lets promises settle when it does. */
class HandClock implements Clock {
  time = 0;
  #alarms: { at: number; ring: () => void }[] = [];

  now = () => this.time;
  date = () => this.time;

  after(milliseconds: number, ring: () => void): () => void {
    const alarm = { at: this.time + milliseconds, ring };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  }

  async pass(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    for (;;) {
      await settle();
      const [next] = this.#alarms.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#alarms = this.#alarms.filter((other) => other !== next);
      this.time = Math.max(this.time, next.at);
      next.ring();
    }
    this.time = end;
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

function gateOf(maxConcurrency: number) {
  const clock = new HandClock();
  const gate = new Gate({ maxConcurrency, clock });
  const admitted: { ticket: number; pass: Pass; at: number }[] = [];
  const ended: string[] = [];
  const enter = (ticket = gate.ticket(), signal?: AbortSignal) => {
    void gate.enter(ticket, signal).then((entry) => {
      if (typeof entry === "string") ended.push(entry);
      else admitted.push({ ticket, pass: entry, at: clock.time });
    });
    return ticket;
  };
  /** The next one that went in and was not yet taken out here. */
  const next = () => {
    const one = admitted.shift();
    if (!one) throw new Error("nobody was admitted");
    return one;
  };
  return { clock, gate, admitted, ended, enter, next };
}

test("no more than the limit are under way, and each that ends makes room for the oldest", async () => {
  const { clock, admitted, enter, next } = gateOf(2);
  const tickets = [enter(), enter(), enter(), enter()];
  await clock.pass(0);
  expect(admitted.map(({ ticket }) => ticket)).toEqual(tickets.slice(0, 2));
  next().pass.letThrough();
  await clock.pass(0);
  expect(admitted.map(({ ticket }) => ticket)).toEqual(tickets.slice(1, 3));
});

test("a refusal keeps everybody waiting for the asked time; then one goes ahead, and the others follow its success", async () => {
  const { clock, admitted, enter, next } = gateOf(64);
  for (let i = 0; i < 5; i += 1) enter();
  await clock.pass(0);
  const burst = admitted.splice(0);
  const refusals = burst.map(({ pass }) => pass.refused(1_000));
  expect(refusals.map(({ closedGate }) => closedGate)).toEqual([true, false, false, false, false]);
  for (const { ticket } of burst) enter(ticket);

  await clock.pass(999);
  expect(admitted).toHaveLength(0);
  await clock.pass(1);
  expect(admitted).toHaveLength(1);
  await clock.pass(10_000);
  expect(admitted).toHaveLength(1);
  next().pass.letThrough();
  await clock.pass(10_000);
  expect(admitted).toHaveLength(4);
  const times = admitted.map(({ at }) => at);
  expect(new Set(times).size).toBe(4);
});

test("the longest of several asked times counts", async () => {
  const { clock, admitted, enter, next } = gateOf(2);
  enter();
  enter();
  await clock.pass(0);
  next().pass.refused(5_000);
  next().pass.refused(1_000);
  enter();
  await clock.pass(4_999);
  expect(admitted).toHaveLength(0);
  await clock.pass(1);
  expect(admitted).toHaveLength(1);
});

test("who was refused goes before those who came later", async () => {
  const { clock, admitted, enter, next } = gateOf(1);
  const first = enter();
  enter();
  await clock.pass(0);
  next().pass.refused(100);
  enter(first);
  await clock.pass(100);
  expect(admitted.map(({ ticket }) => ticket)).toEqual([first]);
});

test("an aborted one leaves the queue, and nobody else does", async () => {
  const { clock, admitted, ended, enter, next } = gateOf(1);
  const controller = new AbortController();
  enter();
  enter(undefined, controller.signal);
  const last = enter();
  await clock.pass(0);
  controller.abort();
  await clock.pass(0);
  expect(ended).toEqual(["aborted"]);
  next().pass.lost();
  await clock.pass(0);
  expect(admitted.map(({ ticket }) => ticket)).toEqual([last]);
});

test("when nothing gets through any more, all who wait are told so", async () => {
  const { clock, ended, enter, next } = gateOf(8);
  enter();
  const stalled: boolean[] = [];
  for (let i = 0; i < mostRefusals; i += 1) {
    await clock.pass(10_000);
    const { ticket, pass } = next();
    if (i === mostRefusals - 1) for (let waiting = 0; waiting < 3; waiting += 1) enter();
    const refusal = pass.refused(100);
    stalled.push(refusal.stalled);
    if (!refusal.stalled) enter(ticket);
  }
  await clock.pass(0);
  expect(stalled).toEqual([...Array<boolean>(mostRefusals - 1).fill(false), true]);
  expect(ended).toEqual(["stalled", "stalled", "stalled"]);
});

test("one that gets through makes the count of refusals begin again", async () => {
  const { clock, gate, enter, next } = gateOf(1);
  enter();
  await clock.pass(0);
  next().pass.refused(100);
  expect(gate.refusalsInRow).toBe(1);
  enter();
  await clock.pass(100);
  next().pass.letThrough();
  expect(gate.refusalsInRow).toBe(0);
});

test("the pace recovers: after enough successes requests are no longer spaced", async () => {
  const { clock, admitted, enter, next } = gateOf(64);
  enter();
  await clock.pass(0);
  next().pass.refused(100);
  for (let i = 0; i < 150; i += 1) {
    enter();
    await clock.pass(5_000);
    next().pass.letThrough();
  }
  for (let i = 0; i < 10; i += 1) enter();
  await clock.pass(0);
  expect(admitted).toHaveLength(10);
});

test("whatever happens, the limit holds, nobody goes in while the gate is closed, and everybody gets a turn", async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant("enter" as const) },
    { weight: 3, arbitrary: fc.constantFrom("letThrough" as const, "lost" as const) },
    { weight: 1, arbitrary: fc.constant("refused" as const) },
    { weight: 2, arbitrary: fc.constant("time" as const) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { maxLength: 60 }),
      async (limit, steps) => {
        const { clock, admitted, ended, enter } = gateOf(limit);
        let opensAt = 0;
        let entered = 0;
        let finished = 0;
        const underWay = () => {
          expect(admitted.length).toBeLessThanOrEqual(limit);
          return admitted;
        };
        for (const what of steps) {
          if (what === "enter") {
            enter();
            entered += 1;
          } else if (what === "time") {
            await clock.pass(300);
          } else {
            const one = underWay().shift();
            if (!one) continue;
            if (what === "refused") {
              opensAt = clock.time + 700;
              if (!one.pass.refused(700).stalled) enter(one.ticket);
              else finished += 1;
            } else {
              one.pass[what]();
              finished += 1;
            }
          }
          const before = new Set(underWay());
          await clock.pass(0);
          if (clock.time < opensAt) expect(underWay().filter((one) => !before.has(one))).toHaveLength(0);
        }
        for (let i = 0; i < entered + 5; i += 1) {
          await clock.pass(10_000);
          for (const { pass } of underWay().splice(0)) {
            pass.letThrough();
            finished += 1;
          }
        }
        expect(finished + ended.length).toBe(entered);
      },
    ),
    { numRuns: 60 },
  );
});
