import { type Endpoint, type EndpointList, WebhookRegistrationError } from "../../src/client";
import type { Clock } from "../../src/client/clock";
import type { Sent } from "../../src/settlement/entry";
import { type Registered, type RegisterOptions, registerOnce } from "../../src/settlement/register";
import { HandClock } from "../client/handClock";

const identity = { url: "https://hooks.example.com/jobs", type: "production" } as const;
const epoch = Date.UTC(2026, 0, 1, 12);
const lost = { code: "CONNECTION_LOST", outcome: "undecided" } as const;
const busy = { code: "SERVER_ERROR", outcome: "undecided", statusCode: 503 } as const;

/** A service that does what a test says, on a clock that the test moves. */
class ScriptedService {
  readonly clock = new HandClock();
  readonly endpoints: Endpoint[] = [];
  /** What the next registrations end in, one after the other; otherwise they are made. */
  readonly answers: (() => Promise<Endpoint>)[] = [];
  /** When registrations were sent, and when lists were asked for, in milliseconds. */
  readonly sentAt: number[] = [];
  readonly listedAt: number[] = [];
  complete = true;

  register = async (_: unknown, onSend: () => void): Promise<Endpoint> => {
    onSend();
    this.sentAt.push(this.clock.now());
    return (this.answers.shift() ?? (async () => this.make()))();
  };
  list = async (): Promise<EndpointList> => {
    this.listedAt.push(this.clock.now());
    const { complete, endpoints } = this;
    return { endpoints: [...endpoints], unrecognized: [], complete, serverTime: this.time() };
  };
  find = async (id: string) => this.endpoints.find((each) => each.id === id);
  time = () => epoch + this.clock.now();

  make(offsetMs = 0): Endpoint {
    const createdAt = new Date(this.time() + offsetMs).toISOString();
    const endpoint = { id: `wh_${this.endpoints.length}`, ...identity, createdAt, updatedAt: null };
    this.endpoints.push(endpoint);
    return endpoint;
  }
  fails(failure: ConstructorParameters<typeof WebhookRegistrationError>[1], made = false): void {
    this.answers.push(async () => {
      if (made) this.make();
      throw new WebhookRegistrationError("it failed", failure);
    });
  }
}

let service: ScriptedService;
let sent: Sent[];
beforeEach(() => {
  service = new ScriptedService();
  sent = [];
});

/** Registers, and lets so much time pass. */
async function register(more: Partial<RegisterOptions> = {}, passMs = 300_000): Promise<Registered> {
  const clock: Clock = {
    now: service.clock.now,
    date: service.clock.date,
    after: (ms, ring) => service.clock.after(ms, ring),
  };
  const baseline = more.baseline ?? (await service.list());
  service.listedAt.length = 0;
  const registering = registerOnce(identity, {
    service,
    baseline,
    clock,
    cancelled: undefined,
    timeoutMs: 30_000,
    patienceMs: 60_000,
    onSend: (each) => sent.push(each),
    ...more,
  });
  const settled = registering.catch(() => {});
  await Promise.race([settled, service.clock.pass(passMs)]);
  return registering;
}

test("a registration that is answered is made, and nothing is listed", async () => {
  expect(await register()).toMatchObject({ kind: "made", endpoint: { id: "wh_0" } });
  expect(service.listedAt).toEqual([]);
});

test("a registration that was certainly not made fails, and nothing is listed", async () => {
  service.fails({ code: "REJECTED", outcome: "not-made", statusCode: 422 });
  await expect(register()).rejects.toMatchObject({ code: "REJECTED", outcome: "not-made" });
  expect(service.listedAt).toEqual([]);
});

test("an endpoint whose answer was lost is found at once", async () => {
  service.fails(lost, true);
  expect(await register()).toMatchObject({ kind: "made", endpoint: { id: "wh_0" } });
  expect(service.sentAt).toHaveLength(1);
});

test("an endpoint whose answer was lost is looked for until the deadline, and then stays pending", async () => {
  service.fails(lost);
  expect(await register()).toMatchObject({
    kind: "pending",
    sent: { serviceTime: epoch, before: [], complete: true },
  });
  expect(service.listedAt.at(-1)).toBe(30_000);
  expect(service.sentAt).toHaveLength(1);
});

test("an endpoint whose answer cannot be used is looked for for five seconds", async () => {
  service.fails({ code: "MALFORMED_RESPONSE", outcome: "undecided", statusCode: 201 });
  expect(await register()).toMatchObject({ kind: "pending" });
  expect(service.listedAt.at(-1)).toBe(5_000);
});

test("a registration stays pending if a second endpoint fits", async () => {
  service.answers.push(async () => {
    service.make();
    service.make();
    throw new WebhookRegistrationError("it failed", lost);
  });
  expect(await register()).toMatchObject({ kind: "pending" });
});

test("lists that fail leave the registration pending", async () => {
  service.fails(lost, true);
  const baseline = await service.list();
  service.list = async () => {
    throw new WebhookRegistrationError("it failed", lost);
  };
  expect(await register({ baseline })).toMatchObject({ kind: "pending" });
});

test("a cancelled run does not look any longer, and the registration stays pending", async () => {
  service.fails(lost);
  const cancelling = new AbortController();
  service.clock.after(1_000, () => cancelling.abort());
  expect(await register({ cancelled: cancelling.signal })).toMatchObject({ kind: "pending" });
  expect(service.listedAt.at(-1)).toBeLessThanOrEqual(1_000);
});

test("503 without Retry-After is not sent again", async () => {
  service.fails(busy);
  expect(await register()).toMatchObject({ kind: "pending" });
  expect(service.sentAt).toHaveLength(1);
});

test("a registration that a rate limit held back dates its window by the moment when it was sent", async () => {
  service.register = async (_, onSend) => {
    onSend();
    await new Promise<void>((resolve) => service.clock.after(45_000, resolve));
    onSend();
    throw new WebhookRegistrationError("it failed", lost);
  };
  expect(await register()).toMatchObject({
    kind: "pending",
    sent: { at: 45_000, serviceTime: epoch + 45_000 },
  });
  expect(sent.map(({ at }) => at)).toEqual([0, 45_000]);
});

test("what was there before the request, or is known to be there, is never found", async () => {
  service.make();
  service.fails(lost);
  const known = service.make();
  const baseline: EndpointList = { ...(await service.list()), endpoints: service.endpoints.slice(0, 1) };
  expect(await register({ baseline, alsoThere: [known.id] })).toMatchObject({
    kind: "pending",
    sent: { before: ["wh_0", "wh_1"] },
  });
});

test("an endpoint that another pending registration or resource explains is not found", async () => {
  service.fails(lost, true);
  const evidence = async () => ({ pending: [], holderOf: () => "somebody" as const });
  expect(await register({ evidence })).toMatchObject({ kind: "pending" });
});

test.each([
  [true, true, true],
  [true, false, false],
  [false, true, true],
  [false, false, false],
])(
  "in a list that is complete: %p, and that has it: %p, the endpoint of an answer was there before: %p",
  async (complete, isListed, wasThere) => {
    service.complete = complete;
    const listed = service.make();
    service.answers.push(async () => (isListed ? listed : service.make()));
    expect(await register()).toMatchObject({ kind: "made", wasThere });
  },
);

test("an answer that spells the id of a listed endpoint in another case does not make that one ours", async () => {
  const listed = service.make();
  service.answers.push(async () => ({ ...listed, id: listed.id.toUpperCase() }));
  expect(await register()).toMatchObject({ kind: "made", wasThere: true });
});

test.each([
  ["more than a minute before it was sent", -150_000, true],
  ["about when it was sent", -30_000, false],
  ["at a time that the service does not tell", undefined, undefined],
])(
  "a partial list leaves it to the time whether an endpoint was there before: %s",
  async (_, offsetMs, wasThere) => {
    service.complete = false;
    const baseline = await service.list();
    service.answers.push(async () => {
      const made = service.make(offsetMs);
      if (offsetMs === undefined) service.endpoints.length = 0;
      return { ...made, createdAt: null };
    });
    expect(await register({ baseline })).toMatchObject({ kind: "made", wasThere });
  },
);

test("what is found after a lost answer stays pending if its id had another url and no time before", async () => {
  service.fails(lost, true);
  const other = { id: "wh_0", ...identity, url: "https://hooks.example.com/other" };
  const endpoints = [{ ...other, createdAt: null, updatedAt: null }];
  const baseline = { ...(await service.list()), endpoints };
  expect(await register({ baseline })).toMatchObject({ kind: "pending" });
});

test.each([
  ["another url", { url: "https://hooks.example.com/other" }, true],
  [
    "another url and time",
    { url: "https://hooks.example.com/other", createdAt: "2025-01-01T00:00:05Z" },
    false,
  ],
  ["another type", { type: "development" as const }, true],
])("an answered id that was listed with %s shows whether it was used again", async (_, listed, wasThere) => {
  const used = service.make();
  const baseline = { ...(await service.list()), endpoints: [{ ...used, ...listed }] };
  service.answers.push(async () => used);
  expect(await register({ baseline })).toMatchObject({ kind: "made", wasThere });
});
