import { type EndpointList, WebhookError } from "../../src/client";
import type { Decision } from "../../src/settlement/decide";
import { settle } from "../../src/settlement/settle";
import { UNKNOWN } from "../../src/settlement/time";
import { HandClock } from "../client/handClock";

const list: EndpointList = { endpoints: [], unrecognized: [], complete: true, serverTime: null };
const endpoint = {
  id: "wh_1",
  url: "https://hooks.example.com",
  type: "production",
  createdAt: null,
  updatedAt: null,
} as const;
const by = { window: UNKNOWN, before: [], complete: true, sameIp: true, own: true, explainsOnly: false };
const found: Decision = { kind: "found", endpoint, by };
const absent: Decision = { kind: "absent" };
const unknowable: Decision = { kind: "unknowable" };
const wait = (milliseconds: number): Decision => ({ kind: "wait", milliseconds });
const failed = new WebhookError("it failed", { code: "SERVER_ERROR" });

let clock: HandClock;
let listedAt: number[];
let waits: number[];
let cancelling: AbortController;
beforeEach(() => {
  clock = new HandClock();
  listedAt = [];
  waits = [];
  cancelling = new AbortController();
});

/** Settles with what each list shows; the last one shows for ever. An error is that of the list. */
async function settled(shown: readonly (Decision | Error)[], forMs?: number) {
  let times = 0;
  const next = () => shown[Math.min(times, shown.length - 1)];
  const settling = settle(
    async () => {
      listedAt.push(clock.now());
      const shows = next();
      if (shows instanceof Error) {
        times += 1;
        throw shows;
      }
      return list;
    },
    () => {
      const shows = next();
      times += 1;
      if (shows === undefined || shows instanceof Error) throw new Error("nothing is shown");
      return shows;
    },
    {
      clock,
      cancelled: cancelling.signal,
      onWait: (each) => waits.push(each),
      ...(forMs === undefined ? {} : { forMs }),
    },
  );
  const ended = settling.catch(() => {});
  await Promise.race([ended, clock.pass(600_000)]);
  return settling;
}

test.each([found, absent, unknowable, { kind: "doubt", candidates: [], by: [], why: "so" } as const])(
  "what one list shows (%j) needs no wait",
  async (decision) => {
    expect(await settled([decision])).toEqual(decision);
    expect(listedAt).toEqual([0]);
    expect(waits).toEqual([]);
  },
);

test("the wait is as long as the first list says, and is announced once", async () => {
  expect(await settled([wait(10_000), wait(9_000)])).toEqual(absent);
  expect(listedAt.at(-1)).toBe(10_000);
  expect(waits).toEqual([10_000]);
});

test("the pauses between two lists grow up to two seconds", async () => {
  await settled([wait(10_000)]);
  expect(listedAt).toEqual([0, 250, 750, 1_750, 3_750, 5_750, 7_750, 9_750, 10_000]);
});

test("a later list may show the endpoint", async () => {
  expect(await settled([wait(10_000), wait(9_750), found])).toEqual(found);
  expect(listedAt).toEqual([0, 250, 750]);
});

test("a list that becomes partial leaves the end open", async () => {
  expect(await settled([wait(1_000), unknowable])).toEqual(unknowable);
});

test("a look of a given length does not end earlier because nothing shows", async () => {
  expect(await settled([absent], 5_000)).toEqual(absent);
  expect(listedAt.at(-1)).toBe(5_000);
});

test("a first list that fails is an error", async () => {
  await expect(settled([failed])).rejects.toBe(failed);
});

test("a list that fails in the middle is skipped", async () => {
  expect(await settled([wait(10_000), failed, failed, found])).toEqual(found);
});

test("a last list that fails is an error, because nothing shows that nothing was made", async () => {
  await expect(settled([wait(1_000), failed])).rejects.toBe(failed);
  expect(clock.now()).toBe(1_000);
});

test("a cancelled run ends the wait at once, and nothing is known", async () => {
  clock.after(3_000, () => cancelling.abort());
  expect(await settled([wait(60_000)])).toEqual({ kind: "cancelled" });
  expect(listedAt.at(-1)).toBeLessThan(3_000);
  expect(clock.pending).toBe(0);
});
