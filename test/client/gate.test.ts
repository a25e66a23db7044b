import fc from "fast-check";
import { type Entry, Gate } from "../../src/client/gate";
import { HandClock } from "./handClock";
import { simulateService } from "./simulatedService";
import { endpoint, rejection } from "./support";

function gateOf(maxConcurrency: number) {
  const clock = new HandClock();
  const gate = new Gate({ maxConcurrency, clock });
  const entries: { entry: Entry; name: string; at: number }[] = [];
  const enter = (name = "", signal = new AbortController().signal) =>
    void gate.enter(signal).then((entry) => entries.push({ entry, name, at: clock.time }));
  return { clock, gate, entries, enter };
}

test("the refusals of one burst share a pause, the longest of theirs", async () => {
  const { clock, gate, entries, enter } = gateOf(3);
  for (let i = 0; i < 4; i += 1) enter();
  await clock.pass(0);
  expect([1_000, 5_000, 2_000].map((pauseMs) => gate.refuse(pauseMs))).toEqual([
    "closed",
    "shared",
    "shared",
  ]);
  expect(gate.refusals).toBe(1);
  await clock.pass(60_000);
  expect(entries.map(({ at }) => at)).toEqual([0, 0, 0, 5_000]);
  gate.leave({ letThrough: true });
  expect(gate.refusals).toBe(0);
});

test("an aborted request leaves the queue, the others stay, and no timer is left once nothing waits", async () => {
  const { clock, gate, entries, enter } = gateOf(1);
  const controller = new AbortController();
  enter("first");
  enter("aborted", controller.signal);
  enter("last");
  controller.abort();
  await clock.pass(0);
  expect(entries.map(({ name, entry }) => `${name} ${entry}`)).toEqual(["first admitted", "aborted aborted"]);
  gate.refuse(1_000);
  expect(clock.pending).toBe(1);
  await clock.pass(1_000);
  expect(entries.at(-1)).toEqual({ name: "last", entry: "admitted", at: 1_000 });
  gate.refuse(1_000);
  expect(clock.pending).toBe(0);
});

test.each([
  ["0", 60_000],
  ["20", 60_000],
  ["60", 120_000],
])(
  "with Retry-After: %s to everything, all operations give up after %d ms and not much later",
  async (asked, least) => {
    const clock = new HandClock();
    const service = simulateService({ clock, refuses: () => true, retryAfter: asked, random: () => 0.5 });
    const client = service.client({ maxConcurrency: 2 });
    const all = Promise.all(
      Array.from({ length: 9 }, () =>
        rejection(client.get("wh_1")).then((error) => ({ error, at: clock.time })),
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
    expect(clock.pending).toBe(0);
  },
);

test.each([undefined, "0", "1", "3"])(
  "40 registrations succeed at a service that refuses two of three requests with Retry-After: %s",
  async (retryAfter) => {
    const clock = new HandClock();
    const random = () => 0.5;
    const service = simulateService({ clock, refuses: (index) => index % 3 !== 0, retryAfter, random });
    const client = service.client();
    const all = Promise.all(Array.from({ length: 40 }, () => client.register(endpoint)));
    await clock.pass(120_000);
    expect(await all).toHaveLength(40);
    expect(service.sentAt.length - service.refusedAt.length).toBe(40);
  },
);

test("in any order of events the limit holds, a closed gate admits nothing, and every request gets a turn", async () => {
  const step = fc.constantFrom("enter", "enter", "let through", "lost", "refused", "time");
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 4 }),
    fc.array(step, { maxLength: 60 }),
    async (limit, steps) => {
      const { clock, gate, entries, enter } = gateOf(limit);
      let [opensAt, entered, left] = [0, 0, 0];
      for (const what of [...steps, ...Array.from({ length: 60 }, () => ["time", "let through"]).flat()]) {
        const before = entries.length;
        if (what === "time") await clock.pass(300);
        else if (what === "enter") entered += 1;
        else if (entries.length > left) left += 1;
        else continue;
        if (what === "enter") enter();
        if (what === "let through" || what === "lost") gate.leave({ letThrough: what === "let through" });
        if (what === "refused") {
          gate.refuse(700);
          opensAt = clock.time + 700;
        }
        await clock.pass(0);
        expect(entries.length - left).toBeLessThanOrEqual(limit);
        if (clock.time < opensAt) expect(entries).toHaveLength(before);
      }
      expect(entries).toHaveLength(entered);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
