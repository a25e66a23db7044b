import fc from "fast-check";
import { Gate } from "../../src/client/gate";
import { VirtualTime } from "../provider/virtualTime";
import { simulateService } from "./simulatedService";
import { endpoint, rejection } from "./support";

function gateOf(maxConcurrency: number) {
  const clock = new VirtualTime();
  const gate = new Gate({ maxConcurrency, clock });
  const entered: string[] = [];
  const enter = (name: string, signal = new AbortController().signal) =>
    void gate.enter(signal).then(() => entered.push(name));
  return { clock, gate, entered, enter };
}

test("the refusals of one burst share a pause, the longest of theirs", async () => {
  const { clock, gate } = gateOf(3);
  expect([1_000, 5_000, 2_000].map((pauseMs) => gate.pause(pauseMs))).toEqual([true, false, false]);
  expect(gate.pauses).toBe(1);
  const opened = gate.whenOpen(new AbortController().signal).then(() => clock.now());
  await clock.pass(60_000);
  expect(await opened).toBe(5_000);
});

test("an aborted pause leaves no timer", async () => {
  const { clock, gate } = gateOf(1);
  const controller = new AbortController();
  gate.pause(1_000);
  const opened = gate.whenOpen(controller.signal);
  controller.abort();
  await opened;
  expect(clock.pending).toBe(0);
});

test.each([
  ["0", 60_000],
  ["20", 60_000],
  ["60", 120_000],
])(
  "with Retry-After: %s to everything, all operations give up after %d ms and not much later, and a later one is sent",
  async (asked, least) => {
    const clock = new VirtualTime();
    const refuses = () => clock.now() < 200_000;
    const service = simulateService({ clock, refuses, headers: { "retry-after": asked }, random: () => 0.5 });
    const client = service.client({ maxConcurrency: 2 });
    const all = Promise.all(
      Array.from({ length: 9 }, () =>
        rejection(client.get("wh_1")).then((error) => ({ error, at: clock.now() })),
      ),
    );
    await clock.pass(200_000);
    for (const { error, at } of await all) {
      expect(error).toMatchObject({ code: "RATE_LIMITED" });
      expect(at).toBeGreaterThanOrEqual(least);
      expect(at).toBeLessThan(least + 10_000);
    }
    // Each refusal in a row lengthens the pause.
    expect(service.sentAt.length).toBeLessThan(60);
    const later = client.get("wh_1");
    await clock.pass(100);
    expect(await later).toEqual(endpoint);
    expect(clock.pending).toBe(0);
  },
);

test("40 registrations succeed at a service that for minutes refuses two of three requests", async () => {
  const clock = new VirtualTime();
  const refuses = (index: number) => index % 3 !== 0;
  const service = simulateService({ clock, refuses, headers: { "retry-after": "3" }, random: () => 0.5 });
  const client = service.client({ maxConcurrency: 2 });
  const all = Promise.all(Array.from({ length: 40 }, () => client.register(endpoint)));
  await clock.pass(600_000);
  expect(await all).toHaveLength(40);
  expect(service.sentAt.filter((_, index) => !refuses(index))).toHaveLength(40);
  expect(service.sentAt.at(-1)).toBeGreaterThan(60_000);
});

test("in any order of events the limit holds, and every operation gets a turn in the order of arrival", async () => {
  const step = fc.constantFrom("enter", "enter", "leave", "abort");
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 4 }),
    fc.array(step, { maxLength: 60 }),
    async (limit, steps) => {
      const { clock, gate, entered, enter } = gateOf(limit);
      const waiting: AbortController[] = [];
      const [aborted, expected]: [Set<string>, string[]] = [new Set(), []];
      let left = 0;
      for (const what of [...steps, ...steps.map(() => "leave")]) {
        if (what === "enter") {
          const name = String(expected.length);
          expected.push(name);
          waiting.push(new AbortController());
          enter(name, waiting.at(-1)?.signal);
        }
        const index = expected.findIndex((name) => !entered.includes(name));
        if (what === "abort" && index >= 0) {
          aborted.add(String(index));
          waiting[index]?.abort();
        }
        if (what === "leave" && left < entered.length) {
          left += 1;
          gate.leave();
        }
        await clock.pass(0);
        expect(entered.length - left - aborted.size).toBeLessThanOrEqual(limit);
      }
      expect([...entered].sort()).toEqual([...expected].sort());
      const inTurn = entered.filter((name) => !aborted.has(name));
      expect(inTurn).toEqual(expected.filter((name) => !aborted.has(name)));
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
