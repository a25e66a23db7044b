import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { delivered, jobSucceeded, secret } from "../support";

/** For each of three servers: a little more than 10,000 in total. */
const REQUESTS = 3_400;
const AT_ONCE = 50;
const SEED = 7;

type Delivery = ReturnType<typeof delivered>;
type Calls = Readonly<Record<string, { readonly called: number; readonly succeeded: number }>>;

let child: ChildProcess;
let ports: Readonly<Record<string, number>>;
let errors: Promise<string>;
const agent = new http.Agent({ keepAlive: true });

beforeAll(async () => {
  const script = join(__dirname, "mixedServers.mjs");
  child = fork(script, [JSON.stringify({ secret })], { silent: true, execArgv: [] });
  errors = child.stderr === null ? Promise.resolve("") : text(child.stderr);
  [ports] = (await once(child, "message")) as [typeof ports];
});
afterAll(() => {
  agent.destroy();
  child.kill();
});

/** Returns a function of pseudo-random integers from 0 to below `limit`. */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

class Client {
  requests = 0;

  constructor(readonly port: number) {}

  /** Returns the status of the answer; undefined if the connection broke, as it does when `abort` is given. */
  post({ headers, body }: Delivery, options: Options = {}): Promise<number | undefined> {
    const { path = "/hooks", method = "POST", abort, chunked = false } = options;
    this.requests += 1;
    return new Promise((resolve) => {
      const length = chunked ? {} : { "content-length": body.length };
      const all = { ...headers, ...length, "content-type": "application/json" };
      const request = http.request({ port: this.port, agent, path, method, headers: all });
      request.on("error", () => resolve(undefined)).on("close", () => resolve(undefined));
      request.on("response", (response) => {
        response.on("error", () => {}).resume();
        response.on("end", () => resolve(response.statusCode));
      });
      if (abort === "in the body") request.write(body.subarray(0, 20), () => request.destroy());
      else if (abort === "after the body") request.end(body, () => request.destroy());
      else request.end(body);
    });
  }
}
interface Options {
  readonly path?: string;
  readonly method?: string;
  readonly abort?: "in the body" | "after the body";
  readonly chunked?: boolean;
}

/** Sends requests of one kind, checks their answers, and returns how often the delivery's handler must be called and succeed. */
type Kind = (client: Client, delivery: Delivery) => Promise<Expected>;
interface Expected {
  readonly called: number;
  readonly succeeded?: number;
}

const NEVER = { called: 0 };
const ONCE = { called: 1, succeeded: 1 };

const answered =
  (status: number, expected: Expected, options?: Options): Kind =>
  async (client, delivery) => {
    expect(await client.post(delivery, options)).toBe(status);
    return expected;
  };

const kinds: Readonly<Record<string, Kind>> = {
  genuine: answered(200, ONCE),
  chunked: answered(200, ONCE, { chunked: true }),
  "of another method": answered(405, NEVER, { method: "PUT" }),
  "parsed before": answered(500, NEVER, { path: "/parsed" }),
  "with a clock that steps back and forth": answered(200, ONCE, { path: "/clock/steps" }),
  "with a clock a day ahead": answered(401, NEVER, { path: "/clock/ahead" }),
  "with a clock a day behind": answered(401, NEVER, { path: "/clock/behind" }),
  "with a clock in seconds": answered(401, NEVER, { path: "/clock/seconds" }),
  ...Object.fromEntries(
    ["nan", "infinite", "nothing", "date", "string", "promise", "throws"].map((clock) => [
      `with the clock "${clock}"`,
      answered(503, NEVER, { path: `/clock/${clock}` }),
    ]),
  ),
  "tampered with": (client, delivery) =>
    answered(401, NEVER)(client, { ...delivery, body: Buffer.from('{"type":"job.failed"}') }),
  old: (client) => answered(401, NEVER)(client, delivered({ at: Date.now() - 3_600_000 })),
  "that fail once": async (client, delivery) => {
    const id = delivery.headers["webhook-id"];
    const failing = delivered({ id, body: jobSucceeded("fails once") });
    expect([await client.post(failing), await client.post(failing), await client.post(failing)]).toEqual([
      500, 200, 200,
    ]);
    return { called: 2, succeeded: 1 };
  },
  "in three copies at once": async (client, delivery) => {
    const statuses = await Promise.all([0, 1, 2].map(() => client.post(delivery)));
    expect(statuses).toContain(200);
    for (const status of statuses) expect([200, 503]).toContain(status);
    return ONCE;
  },
  "aborted in the body": async (client, delivery) => {
    expect(await client.post(delivery, { abort: "in the body" })).toBeUndefined();
    return NEVER;
  },
  "aborted after the body, and sent again": async (client, delivery) => {
    await client.post(delivery, { abort: "after the body" });
    let status: number | undefined;
    do status = await client.post(delivery);
    while (status === 503);
    expect(status).toBe(200);
    return ONCE;
  },
};

test.each(["node:http", "Express 5", "Fetch"])(
  `${REQUESTS} mixed requests to %s neither crash it nor call a handler twice`,
  async (name) => {
    const random = randomFrom(SEED);
    const client = new Client(ports[name] ?? 0);
    const each = Object.entries(kinds);
    const counts = new Map<string, number>();
    const expected: Record<string, Expected> = {};

    async function sendUntilEnough(): Promise<void> {
      while (client.requests < REQUESTS) {
        const [kind, send] = each[random(each.length)] ?? ["", kinds.genuine as Kind];
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        const delivery = delivered();
        expected[delivery.headers["webhook-id"]] = await send(client, delivery);
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sendUntilEnough));
    expect(Math.min(...each.map(([kind]) => counts.get(kind) ?? 0))).toBeGreaterThan(40);

    expect(await client.post(delivered())).toBe(200);
    child.send(name);
    const [calls] = (await once(child, "message")) as [Calls];
    const wrong = Object.entries(expected).filter(([id, { called, succeeded = 0 }]) => {
      const actual = calls[id] ?? { called: 0, succeeded: 0 };
      return actual.called !== called || actual.succeeded !== succeeded;
    });
    expect(wrong).toEqual([]);
  },
);

test("the process of those servers is still alive, and has printed nothing but the advice about parsed bodies", async () => {
  expect(child.exitCode).toBeNull();
  child.kill();
  const lines = (await errors).split("\n").filter((line) => line !== "");
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines)
    expect(line).toMatch(/^\(Use `node|WEBHOOK_RECEIVER.* was read before its signature/);
});
