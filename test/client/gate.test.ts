import fc from "fast-check";
import { Gate, type Pass, STALLED_REFUSALS } from "../../src/client/gate";
import { HandClock } from "./handClock";

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
  /** Removes and returns the oldest request that was admitted. */
  const next = () => {
    const one = admitted.shift();
    if (!one) throw new Error("no request was admitted");
    return one;
  };
  return { clock, gate, admitted, ended, enter, next };
}

test("the gate admits requests up to the limit, and the oldest one whenever one ends", async () => {
  const { clock, admitted, enter, next } = gateOf(2);
  const tickets = [enter(), enter(), enter(), enter()];
  await clock.pass(0);
  expect(admitted.map(({ ticket }) => ticket)).toEqual(tickets.slice(0, 2));
  next().pass.letThrough();
  await clock.pass(0);
  expect(admitted.map(({ ticket }) => ticket)).toEqual(tickets.slice(1, 3));
});

test("after a refusal all requests wait out the pause, then one probes, and the others follow when it succeeds", async () => {
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

test("the longest of several pauses counts", async () => {
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

test("a refused request goes before younger ones", async () => {
  const { clock, admitted, enter, next } = gateOf(1);
  const first = enter();
  enter();
  await clock.pass(0);
  next().pass.refused(100);
  enter(first);
  await clock.pass(100);
  expect(admitted.map(({ ticket }) => ticket)).toEqual([first]);
});

test("an aborted request leaves the queue, and the others stay", async () => {
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

test("the gate keeps no timer once nothing waits for a turn", async () => {
  const { clock, ended, enter, next } = gateOf(8);
  const controllers = [new AbortController(), new AbortController()];
  enter();
  await clock.pass(0);
  next().pass.refused(60_000);
  expect(clock.pending).toBe(0);
  for (const { signal } of controllers) enter(undefined, signal);
  expect(clock.pending).toBe(1);
  controllers[0]?.abort();
  expect(clock.pending).toBe(1);
  controllers[1]?.abort();
  expect(clock.pending).toBe(0);
  await clock.pass(0);
  expect(ended).toEqual(["aborted", "aborted"]);
});

test("when the client has stalled, the gate ends all waiting requests", async () => {
  const { clock, ended, enter, next } = gateOf(8);
  enter();
  const stalled: boolean[] = [];
  for (let i = 0; i < STALLED_REFUSALS; i += 1) {
    await clock.pass(10_000);
    const { ticket, pass } = next();
    if (i === STALLED_REFUSALS - 1) for (let waiting = 0; waiting < 3; waiting += 1) enter();
    const refusal = pass.refused(100);
    stalled.push(refusal.stalled);
    if (!refusal.stalled) enter(ticket);
  }
  await clock.pass(0);
  expect(stalled).toEqual([...Array<boolean>(STALLED_REFUSALS - 1).fill(false), true]);
  expect(ended).toEqual(["stalled", "stalled", "stalled"]);
});

test("a success resets the count of refusals", async () => {
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

test("after enough successes the gate no longer spaces requests", async () => {
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

test("in any order of events the limit holds, a closed gate admits nothing, and every request gets a turn", async () => {
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
