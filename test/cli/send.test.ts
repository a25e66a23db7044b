import { join } from "node:path";
import { sign, verify } from "../../src/signature";
import { receiver } from "../emulator/receiver";
import { makeFolder, OTHER_SECRET, run, SECRET } from "./running";

const env = { WEBHOOK_SECRET: SECRET };
const now = () => Math.floor(Date.now() / 1000);

/** A file with a delivery of an hour ago. */
function capture() {
  const body = '{"type": "job.failed",  "data": {"jobId": 12345678901234567890}}';
  const headers = {
    ...sign({ id: "msg_old", timestamp: now() - 3600, body, secret: OTHER_SECRET }),
    cookie: "c",
  };
  return { path: join(makeFolder({ file: JSON.stringify({ headers, body }) }), "file"), body };
}

test("an event is sent as the service sends it, signed with a new id, and the response is shown", async () => {
  const target = await receiver({ status: 202, headers: {}, body: "queued\nfor later" });
  const ended = await run(["send", "job.succeeded", "--to", target.url], { env });
  expect(ended).toMatchObject({ status: 0, stderr: "" });
  expect(ended.stdout).toMatch(
    /^job\.succeeded msg_[0-9a-f]{24} to http:\/\/127\.0\.0\.1:\d+\/hook: 202 after \d+ ms\nThe receiver's response:\n {2}queued\n {2}for later\n$/,
  );
  const [{ headers = {}, body = "" } = {}] = target.received;
  expect(verify(body, headers, SECRET)).toBe(true);
  expect(headers["user-agent"]).toBe("pulumi-webhook-endpoints");
  expect(JSON.parse(body)).toEqual({
    type: "job.succeeded",
    data: { jobId: expect.stringMatching(/^job_/), status: "succeeded" },
  });
});

test("an event of any name is sent, with its data as it was written", async () => {
  const target = await receiver();
  const data = '{ "jobId": 12345678901234567890 }';
  await run(["send", "job.failed", "--to", target.url, "--data", data], { env });
  expect(await run(["send", "order.paid", "--to", target.url], { env })).toMatchObject({
    status: 0,
    stderr: "",
  });
  const bodies = target.received.map(({ body }) => body);
  expect(bodies).toEqual([`{"type":"job.failed","data":${data}}`, '{"type":"order.paid","data":{}}']);
});

test("a captured delivery is signed anew with a new id, so that a receiver handles it again", async () => {
  const target = await receiver();
  const { path, body } = capture();
  const ended = await run(["send", "--capture", path, "--to", target.url], { env });
  expect(ended.stdout).toMatch(/^job\.failed msg_[0-9a-f]{24} /);
  const [received] = target.received;
  expect(received?.body).toBe(body);
  expect(verify(body, received?.headers ?? {}, SECRET)).toBe(true);
  expect(received?.headers["webhook-id"]).not.toBe("msg_old");
  expect(received?.headers.cookie).toBeUndefined();
});

test.each([
  [["job.running", "--capture", "f"], /name an event/],
  [["--capture", "f", "--data", "{}"], /'--data <json>' cannot be used with option '--capture <file>'/],
  [["job.running", "--data", "{"], /--data must be JSON/],
])("send refuses the wrong use %j", async (args, why) => {
  const { status, stderr } = await run(["send", ...args, "--to", "http://127.0.0.1:1/"], { env });
  expect(status).toBe(1);
  expect(stderr).toMatch(why);
});

test.each([
  [401, 401, null, "", /another secret/],
  [404, 404, null, "", /^$/],
  ["reset", null, "UND_ERR_SOCKET|ECONNRESET", "", /^$/],
  ["end-in-body", 200, "HTTPParserError|UND_ERR_SOCKET", "half", /^$/],
] as const)(
  "after %s, the exit status is 1, --json says what came back, and a note explains a refusal",
  async (reaction, status, failure, response, note) => {
    const target = await receiver(reaction);
    const ended = await run(["send", "job.running", "--to", target.url, "--json"], { env });
    expect(ended.status).toBe(1);
    expect(JSON.parse(ended.stdout)).toEqual({
      event: "job.running",
      id: expect.stringMatching(/^msg_/),
      status,
      failure: failure === null ? null : expect.stringMatching(failure),
      durationMs: expect.any(Number),
      response,
    });
    expect(ended.stderr).toMatch(note);
  },
);

test("a receiver that repeats the secret in its response gets it into no output", async () => {
  const target = await receiver({
    status: 401,
    headers: {},
    body: `expected ${SECRET} or ${SECRET.slice(6)}`,
  });
  const { stdout } = await run(["send", "job.running", "--to", target.url], { env });
  expect(stdout).toMatch(/expected … or …/);
});
