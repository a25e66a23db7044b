import { memoryDedupe } from "../../../src/receiver";
import { clock } from "../support";

const LEASE = 1000;
const KEEP = 10_000;

function store(maxEntries?: number) {
  const time = clock();
  const dedupe = memoryDedupe({ maxEntries, now: time.now });
  const claim = async (key: string) => {
    const claimed = await dedupe.claim(key, LEASE);
    return claimed.state === "claimed" ? claimed.token : claimed.state;
  };
  const handle = async (key: string) => dedupe.complete(key, await claim(key), KEEP);
  return { ...time, dedupe, claim, handle };
}

test("a claim lasts until its lease ends, and then another worker can take it", async () => {
  const { dedupe, claim, pass } = store();
  const first = await claim("a");
  pass(400);
  expect(dedupe.claim("a", LEASE)).toEqual({ state: "held", retryAfterMs: 600 });
  pass(600);
  const second = await claim("a");
  expect(second).not.toBe("held");
  expect(dedupe.complete("a", first, KEEP)).toBe(false);
  expect(dedupe.release("a", first)).toBe(false);
  expect(await claim("a")).toBe("held");
  expect(dedupe.complete("a", second, KEEP)).toBe(true);
  expect(await claim("a")).toBe("completed");
});

test("a claim can be completed after its lease if nobody took over", async () => {
  const { dedupe, claim, pass } = store();
  const token = await claim("a");
  pass(5000);
  expect(dedupe.complete("a", token, KEEP)).toBe(true);
  expect(await claim("a")).toBe("completed");
});

test("a released key can be claimed at once", async () => {
  const { dedupe, claim } = store();
  expect(dedupe.release("a", await claim("a"))).toBe(true);
  expect(await claim("a")).not.toBe("held");
});

test("a completed key is remembered for as long as the caller asked", async () => {
  const { handle, claim, pass } = store();
  await handle("a");
  pass(KEEP - 1);
  expect(await claim("a")).toBe("completed");
  pass(1);
  expect(await claim("a")).not.toBe("completed");
});

test("a full store forgets the oldest completed key first, and never a held one", async () => {
  const { handle, claim } = store(3);
  await claim("held");
  await handle("old");
  await handle("new");
  await claim("another");
  expect(await claim("held")).toBe("held");
  expect(await claim("new")).toBe("completed");
  expect(await claim("old")).not.toBe("completed");
});

test("a key that was handled again, once it was forgotten, is the newest completed one", async () => {
  const { handle, claim, pass } = store(3);
  await handle("again");
  pass(KEEP / 2);
  await handle("other");
  pass(KEEP / 2);
  await handle("again");
  for (const key of ["one", "two"]) await claim(key);
  expect(await claim("again")).toBe("completed");
});

test("a store full of running handlers refuses new claims until a lease ends", async () => {
  const { dedupe, claim, pass } = store(2);
  await claim("a");
  await claim("b");
  expect(dedupe.claim("c", LEASE)).toEqual({ state: "held", retryAfterMs: 1000 });
  pass(LEASE);
  expect(await claim("c")).not.toBe("held");
  expect(await claim("d")).not.toBe("held");
  expect(await claim("e")).toBe("held");
});

test("in a full store, a retry can take over its own lease, which is then the newest", async () => {
  const { claim, pass } = store(2);
  await claim("a");
  await claim("b");
  pass(LEASE);
  expect(await claim("a")).not.toBe("held");
  expect(await claim("c")).not.toBe("held");

  const other = store(2);
  await other.dedupe.claim("long", 10 * LEASE);
  await other.claim("a");
  other.pass(LEASE);
  expect(await other.claim("a")).not.toBe("held");
});

test("leases that ran out take no room from completed keys", async () => {
  const { handle, claim, pass } = store(3);
  for (const hung of ["x", "y", "z"]) await claim(hung);
  pass(LEASE);
  for (const key of ["a", "b", "c"]) await handle(key);
  for (const key of ["a", "b", "c"]) expect(await claim(key)).toBe("completed");
});

test("a lease that had to make room can still be completed, unless a running handler needs the room", async () => {
  const { dedupe, claim, pass } = store(1);
  const first = await claim("a");
  pass(LEASE);
  const second = await claim("b");
  expect(dedupe.complete("a", first, KEEP)).toBe(false);
  expect(dedupe.complete("b", second, KEEP)).toBe(true);
  expect(dedupe.complete("b", first, KEEP)).toBe(false);
  expect(dedupe.complete("a", first, KEEP)).toBe(true);
  expect(await claim("a")).toBe("completed");
  expect(await claim("b")).not.toBe("completed");
});

test("the names of prototypes are ordinary keys", async () => {
  const { handle, claim } = store();
  for (const key of ["__proto__", "constructor", "toString"]) {
    expect(await handle(key)).toBe(true);
    expect(await claim(key)).toBe("completed");
  }
});

test("memory is bounded however many deliveries there are", async () => {
  const { handle, claim } = store(100);
  for (let i = 0; i < 5000; i++) await handle(`k${i}`);
  const remembered: number[] = [];
  for (let i = 4999; i >= 0; i--) if ((await claim(`k${i}`)) === "completed") remembered.push(i);
  expect(remembered).toHaveLength(100);
});

test.each([Number.NaN, undefined, "12"])("a clock that returns %p lets nothing be claimed", (time) => {
  const dedupe = memoryDedupe({ now: () => time as number });
  expect(() => dedupe.claim("a", LEASE)).toThrow(TypeError);
  expect(() => dedupe.complete("a", "1", KEEP)).toThrow(TypeError);
});

test.each([0, -1, 1.5, Number.NaN])("maxEntries of %p is the program's mistake: RangeError", (maxEntries) => {
  expect(() => memoryDedupe({ maxEntries })).toThrow(RangeError);
});
