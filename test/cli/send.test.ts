import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createVerifier, sign } from "../../src/signature";
import { receiver } from "../emulator/receiver";
import { cleanUp, makeFolder, OTHER_SECRET, run, SECRET, stackFolder } from "./commandLine";

afterEach(cleanUp);

const env = { THE_SECRET: SECRET };
const SOURCE = ["--secret-env", "THE_SECRET"];
const BELL = String.fromCharCode(7);

/** Verifies what a receiver got, with a clock that is so many seconds behind. */
function isGenuine(
  { headers, body }: { headers: object; body: string },
  { age = 0, secret = SECRET } = {},
): boolean {
  const now = () => Date.now() - age * 1000;
  return createVerifier({ secrets: secret, now, toleranceSeconds: 30 }).verify(
    body,
    headers as Record<string, string>,
  );
}

test.each([
  ["send", "job.failed", "--to", "http://127.0.0.1:1", "--age", "9999w"],
  ["send", "job.failed", "--to", "http://127.0.0.1:1", "--endpoint", "jobs"],
  ["verify", "--capture", "x", "--search", "3000000"],
  ["list", "--stack", ""],
  ["list", "--also-stack", ""],
])("%s %s %s %s %s %s is wrong use", async (...args) => {
  const { status, stderr } = await run(
    args.filter((arg): arg is string => arg !== undefined),
    { env },
  );
  expect([status, stderr]).toEqual([1, expect.stringContaining("(WRONG_USE)")]);
});

test.each(["job.running", "job.succeeded", "job.failed"])(
  "send %s delivers what the service would, and exits with 0 when it is accepted",
  async (event) => {
    const { url, received } = await receiver({ status: 200, headers: {}, body: `ok${BELL}\u001b[2J\n` });
    const { status, stdout, stderr } = await run(["send", event, "--to", url, ...SOURCE], { env });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      new RegExp(`^${event} msg_[0-9a-f]{24}: 200, after \\d+ ms\n  ok\\\\u0007\\\\u001b\\[2J\n$`),
    );
    const [sent = { headers: {}, body: "" }] = received;
    expect(sent.headers).toMatchObject({ "content-type": "application/json" });
    expect(isGenuine(sent)).toBe(true);
    expect(JSON.parse(sent.body)).toEqual({
      type: event,
      data: { jobId: expect.stringMatching(/^job_[0-9a-f]{16}$/), status: event.slice(4) },
    });
  },
);

test("send accepts any event, and data from the command line or a file, digit for digit", async () => {
  const { url, received } = await receiver();
  const folder = makeFolder({ "data.json": ' {"n": 12345678901234567890}\n' });
  await run(["send", "order.paid", "--to", url, ...SOURCE], { env });
  await run(["send", "order.paid", "--data", '{"n":1.0}', "--to", url, ...SOURCE], { env });
  await run(["send", "order.paid", "--data", `@${join(folder, "data.json")}`, "--to", url, ...SOURCE], {
    env,
  });
  expect(received.map(({ body }) => body)).toEqual([
    '{"type":"order.paid","data":{}}',
    '{"type":"order.paid","data":{"n":1.0}}',
    '{"type":"order.paid","data":{"n": 12345678901234567890}}',
  ]);
  expect(received.every((each) => isGenuine(each))).toBe(true);
});

test.each([
  ["job.success", /did you mean job\.succeeded\?/],
  ["JOB.FAILED", /did you mean job\.failed\?/],
  ["running", /did you mean job\.running\?/],
  ["job.cancelled-by-user", /no such event\. Its events are job\.running, job\.succeeded and job\.failed\./],
])(
  "send refuses %s, which looks like an event of the service, unless it is told to send it",
  async (event, why) => {
    const { url, received } = await receiver();
    const { status, stderr } = await run(["send", event, "--to", url, ...SOURCE], { env });
    expect([status, stderr]).toEqual([1, expect.stringMatching(why)]);
    expect(stderr).toMatch(/--any-event \(WRONG_USE\)\n$/);
    expect(received).toEqual([]);
    expect((await run(["send", event, "--any-event", "--to", url, ...SOURCE], { env })).status).toBe(0);
    expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({ type: event });
  },
);

test("send says that an answer did not end", async () => {
  const { url } = await receiver("end-in-body", "end-in-body");
  const { status, stdout } = await run(["send", "job.running", "--to", url, ...SOURCE], { env });
  expect([status, stdout]).toEqual([
    0,
    expect.stringMatching(/: 200, after \d+ ms, and the answer did not end \(HTTPParserError\)\n {2}half\n$/),
  ]);
  const { stdout: json } = await run(["send", "job.running", "--to", url, ...SOURCE, "--json"], { env });
  expect(JSON.parse(json).deliveries).toMatchObject([
    { status: 200, failure: "HTTPParserError", answer: "half" },
  ]);
});

test("send masks the secrets in what a receiver answers, also in a part of one", async () => {
  const key = SECRET.slice(6);
  const echo = `${SECRET} ${Buffer.from(key, "base64").toString("hex")} ${"x".repeat(170)} ${key}`;
  for (const args of [[], ["--json"]]) {
    const { url } = await receiver({ status: 401, headers: {}, body: echo });
    const { stdout } = await run(["send", "job.running", "--to", url, ...SOURCE, ...args], { env });
    expect(stdout).toContain("whsec_… …");
    expect(stdout).not.toContain(key.slice(0, 6));
  }
});

describe("with --capture", () => {
  const BODY = '{ "type": "job.failed", "n": 1.0 }';
  /** Makes the file of a delivery that was signed so many seconds ago, and the options that send it. */
  const captured = (url: string, { age = 0, body = BODY as string | Buffer } = {}) => {
    const timestamp = Math.floor(Date.now() / 1000) - age;
    const signed = sign({ id: "msg_1", timestamp, body, secret: SECRET });
    const headers = { ...signed, "Content-Type": "application/cloudevents+json", Host: "elsewhere" };
    const file = Buffer.isBuffer(body)
      ? { headers, body: body.toString("base64"), isBase64Encoded: true }
      : { headers, body };
    const folder = makeFolder({ "capture.json": JSON.stringify(file) });
    return ["send", "--capture", join(folder, "capture.json"), "--to", url];
  };

  test("send sends a captured delivery byte for byte, without any secret", async () => {
    const { url, received } = await receiver();
    const { status, stdout, stderr } = await run(captured(url, { age: 5 }));
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^job\.failed msg_1: 204, /);
    const [sent = { headers: {}, body: "" }] = received;
    expect(sent.body).toBe(BODY);
    expect(sent.headers).toMatchObject({ "content-type": "application/cloudevents+json" });
    expect(isGenuine(sent, { age: 5 })).toBe(true);
  });

  test("send sends a header twice that the capture has twice", async () => {
    const seen: string[][] = [];
    const server = http.createServer(({ rawHeaders }, response) => {
      seen.push(rawHeaders.filter((_, at) => rawHeaders[at - (at % 2)] === "webhook-id"));
      response.writeHead(401).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const headers = { "webhook-id": ["msg_1", "msg_2"], "Content-Type": "application/json" };
    const folder = makeFolder({ "capture.json": JSON.stringify({ headers, body: BODY }) });
    const args = ["send", "--capture", join(folder, "capture.json"), "--to", `http://127.0.0.1:${port}/`];
    expect(await run(args)).toMatchObject({ status: 1, stdout: expect.stringContaining("msg_1: 401") });
    expect(seen).toEqual([["webhook-id", "msg_1", "webhook-id", "msg_2"]]);
    server.close();
  });

  test("send says that HTTP does not allow a header of the capture", async () => {
    const headers = { "webhook-id": "msg_1\u0001" };
    const folder = makeFolder({ "capture.json": JSON.stringify({ headers, body: BODY }) });
    const args = ["send", "--capture", join(folder, "capture.json"), "--to", "http://127.0.0.1:1"];
    expect(await run(args)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/Nothing was sent: HTTP/),
    });
  });

  test("send expects that an old delivery is refused, and says how to send it as a new one", async () => {
    const { url, received } = await receiver(401);
    const { status, stdout, stderr } = await run(captured(url, { age: 7_200 }));
    expect([status, stderr]).toEqual([0, expect.stringMatching(/--sign-anew\.\n$/)]);
    expect(stdout).toContain("as it should: it was 2 hours old.");
    expect(isGenuine(received[0] ?? { headers: {}, body: "" }, { age: 7_200 })).toBe(true);
  });

  test("send --sign-anew signs the same body and id now, and --new-id gives it a new id", async () => {
    const { url, received } = await receiver(200, 200, 200);
    const args = [...captured(url, { age: 7_200 }), "--sign-anew", ...SOURCE];
    expect((await run(args, { env })).status).toBe(0);
    expect((await run([...args, "--new-id"], { env })).status).toBe(0);
    expect(received.map(({ body }) => body)).toEqual([BODY, BODY]);
    expect(received.map((each) => isGenuine(each))).toEqual([true, true]);
    expect(received.map(({ headers }) => headers["webhook-id"])).toEqual([
      "msg_1",
      expect.stringMatching(/^msg_[0-9a-f]{24}$/),
    ]);
    expect(received[0]?.headers).toMatchObject({ "content-type": "application/cloudevents+json" });
  });

  test("send --tamper changes a captured delivery, also one that is not UTF-8", async () => {
    const { url, received } = await receiver(401, 401);
    expect((await run([...captured(url), "--tamper"])).status).toBe(0);
    expect((await run([...captured(url, { body: Buffer.from([0xff]) }), "--tamper"])).status).toBe(0);
    expect(received.some((each) => isGenuine(each))).toBe(false);
  });

  test.each([
    [["job.failed"], /leave out the event/],
    [["--data", "{}"], /leave out the event/],
    [["--age", "1h"], /--age needs --sign-anew/],
    [["--new-id"], /--new-id needs --sign-anew/],
  ])("send refuses %j, which does not go with it", async (args, why) => {
    const { status, stderr } = await run([...captured("http://127.0.0.1:1/"), ...args]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(why)]);
  });
});

test("send --repeat sends the same delivery several times, one after the other", async () => {
  const { url, received } = await receiver(200, 200, 200);
  const { status, stdout } = await run(
    ["send", "job.running", "--to", url, "--repeat", "3", "--json", ...SOURCE],
    { env },
  );
  expect(status).toBe(0);
  const { id, deliveries } = JSON.parse(stdout);
  expect(received.map(({ headers }) => headers["webhook-id"])).toEqual([id, id, id]);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  expect(deliveries).toHaveLength(3);
});

test("send --tamper changes the body after signing, and exits with 0 only when it is refused", async () => {
  const { url, received } = await receiver(401, 200, 404, 500);
  const send = () => run(["send", "job.succeeded", "--to", url, "--tamper", ...SOURCE], { env });
  const refused = await send();
  expect(refused).toMatchObject({ status: 0, stderr: "" });
  expect(refused.stdout).toContain(
    "The receiver refused the delivery, as it should: it was changed after signing.",
  );
  const accepted = await send();
  expect(accepted).toMatchObject({
    status: 1,
    stderr:
      "warning: The receiver should refuse this delivery with a 4xx other than 404, 405, 408 and 429: it was changed after signing.\n",
  });
  expect([(await send()).status, (await send()).status]).toEqual([1, 1]);
  expect(received.some((each) => isGenuine(each))).toBe(false);
  expect(JSON.parse(received[0]?.body ?? "")).toMatchObject({ type: "job.succeeded" });
});

test.each([
  ["4m", 240, 200, 0],
  ["4m", 240, 401, 1],
  ["2h", 7_200, 401, 0],
  ["2h", 7_200, 200, 1],
])(
  "send --age %s signs with a timestamp of %i s ago, and exits after %i with %i",
  async (age, seconds, answer, expected) => {
    const { url, received } = await receiver(answer);
    const { status, stdout } = await run(
      ["send", "job.running", "--to", url, "--age", age, "--json", ...SOURCE],
      { env },
    );
    expect(status).toBe(expected);
    expect(JSON.parse(stdout)).toMatchObject({
      expected: seconds > 300 ? "refused" : "accepted",
      asExpected: expected === 0,
    });
    const [sent = { headers: {}, body: "" }] = received;
    expect([isGenuine(sent), isGenuine(sent, { age: seconds })]).toEqual([false, true]);
  },
);

test.each([
  [401, /another secret/],
  [404, /Check the path/],
  [405, /Check the path/],
  [500, /Its log says why/],
  ["reset" as const, /did not answer\. Check the host name, its certificate, that it listens/],
])("send exits with 1 and advice when the answer is %s", async (reaction, advice) => {
  const { url } = await receiver(reaction);
  const { status, stderr } = await run(["send", "job.running", "--to", url, ...SOURCE], { env });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^warning: .*\n$/);
  expect(stderr).toMatch(advice);
});

test("send shows only the beginning of a long answer", async () => {
  const { url } = await receiver({ status: 200, headers: {}, body: "x".repeat(1_000_000) });
  const { status, stdout } = await run(["send", "job.running", "--to", url, "--json", ...SOURCE], { env });
  expect(status).toBe(0);
  expect(JSON.parse(stdout).deliveries[0].answer).toBe(`${"x".repeat(300)}…`);
});

describe("with a stack", () => {
  const stackWith = (urls: Readonly<Record<string, string>>) => {
    const endpoints = Object.fromEntries(
      Object.entries(urls).map(([name, url]) => [name, { id: "wh_1", url, type: "development" }]),
    );
    return { version: 1, secrets: [SECRET, OTHER_SECRET], toleranceSeconds: 300, endpoints };
  };

  test("send delivers to the endpoint of the stack in this folder, signed with each of its secrets", async () => {
    const { url, received } = await receiver();
    const { status } = await run(
      ["send", "job.running"],
      stackFolder({ outputs: { receiver: stackWith({ jobs: url }) } }),
    );
    expect(status).toBe(0);
    const [sent = { headers: {}, body: "" }] = received;
    expect([isGenuine(sent), isGenuine(sent, { secret: OTHER_SECRET })]).toEqual([true, true]);
  });

  test("send judges --age by the tolerance of the stack that --stack names, also with a secret and a url of its own", async () => {
    const { url } = await receiver(401);
    const args = ["send", "job.running", "--to", url, "--age", "4m", "--stack", "dev", "--json", ...SOURCE];
    const { cwd, env: own } = stackFolder({
      outputs: { receiver: { ...stackWith({}), toleranceSeconds: 200 } },
    });
    const { status, stdout } = await run(args, { cwd, env: { ...env, ...own } });
    expect([status, JSON.parse(stdout).expected]).toEqual([0, "refused"]);
  });

  test("send takes the endpoint of the stack that --stack names before that of a configuration in the variable", async () => {
    const [ofStack, ofVariable] = [await receiver(), await receiver()];
    const { cwd, env: own } = stackFolder({ outputs: { receiver: stackWith({ jobs: ofStack.url }) } });
    const variable = { WEBHOOK_RECEIVER: JSON.stringify(stackWith({ jobs: ofVariable.url })) };
    const args = ["send", "job.running", "--stack", "dev", "--secret-env", "WEBHOOK_RECEIVER"];
    expect((await run(args, { cwd, env: { ...variable, ...own } })).status).toBe(0);
    expect([ofStack.received.length, ofVariable.received.length]).toEqual([1, 0]);
  });

  test.each(["1.2.3", 7])(
    "--secret-file takes all outputs of a stack with an output version of %j",
    async (version) => {
      const { url } = await receiver();
      const outputs = JSON.stringify({ version, receiver: stackWith({}) });
      const file = join(makeFolder({ "outputs.json": outputs }), "outputs.json");
      const sent = await run(["send", "job.running", "--to", url, "--secret-file", file]);
      expect(sent).toMatchObject({ status: 0, stderr: "" });
    },
  );

  test("--output is refused beside a secret that has no outputs, and what is no secret at all in one sentence", async () => {
    const { url, received } = await receiver();
    const folder = makeFolder({ secret: SECRET, notes: "Dear all,\nthe secret\nis elsewhere.\n" });
    const send = (...args: string[]) =>
      run(["send", "job.running", "--to", url, ...args], { cwd: folder, env: {} });
    const ignored = await send("--secret-file", "secret", "--output", "mine");
    expect(ignored.stderr).toMatch(/^error: [^\n]*leave out --output[^\n]*\(WRONG_USE\)\n$/);
    const wrong = await send("--secret-file", "notes");
    expect(wrong.stderr).toMatch(/^error: the file notes cannot be used: it holds no signing secret[^;]*\n$/);
    expect(received).toEqual([]);
  });

  test("send asks for a choice between several endpoints, and takes it", async () => {
    const { url, received } = await receiver();
    const folder = stackFolder({ outputs: { mine: stackWith({ jobs: url, other: "http://127.0.0.1:1/" }) } });
    const unclear = await run(["send", "job.running", "--output", "mine"], folder);
    expect(unclear).toMatchObject({ status: 1, stdout: "" });
    expect(unclear.stderr).toMatch(
      /^error: choose an endpoint with --endpoint.*: jobs, other \(WRONG_USE\)\n$/,
    );
    const wrong = await run(["send", "job.running", "--output", "mine", "--endpoint", "toString"], folder);
    expect(wrong.stderr).toMatch(/^error: --endpoint names no endpoint\. .*\(WRONG_USE\)\n$/);
    expect(
      (await run(["send", "job.running", "--output", "mine", "--endpoint", "jobs"], folder)).status,
    ).toBe(0);
    expect(received).toHaveLength(1);
  });
});
