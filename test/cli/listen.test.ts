import { readdirSync, readFileSync, statSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { reporter } from "../../src/cli/commands/listen/report";
import { Output } from "../../src/cli/output";
import { sign } from "../../src/signature";
import { fingerprintOf } from "../../src/signature/secret";
import { receiver } from "../emulator/receiver";
import { sendWithoutEnd } from "../hostile/sender";
import {
  fakePulumi,
  makeFolder,
  OTHER_SECRET,
  type RunOptions,
  receiverOutput,
  run,
  SECRET,
  start,
} from "./running";

const env = { WEBHOOK_SECRET: SECRET };
const BODY = '{"type":"job.succeeded","data":{"jobId":"job_42"}}';

/** Starts listening, and returns the command with a function that posts to it. */
async function listening(args: readonly string[], options: RunOptions = { env }) {
  const running = start(["listen", "--port", "0", ...args], options);
  const [, url = ""] = await running.until(/(http:\/\/127\.0\.0\.1:\d+)/);
  const post = (body: string | Buffer = BODY, headers: Record<string, string> = signed(body)) =>
    fetch(`${url}/any/path?x=1`, { method: "POST", body, headers });
  return { running, url, post };
}

function signed(body: string | Buffer, secret = SECRET): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    "content-type": "application/json",
    cookie: "session=1",
    ...sign({ id: "msg_1", timestamp, body, secret }),
  };
}

test("each delivery is a line with path, event, job, id, size and verdict, and Ctrl-C ends it with 0", async () => {
  const { running, url, post } = await listening([]);
  expect((await post()).status).toBe(200);
  const refused = await post(BODY, signed(BODY, OTHER_SECRET));
  expect([refused.status, await refused.text()]).toEqual([401, expect.stringMatching(/^refused/)]);
  expect((await post("x", {})).status).toBe(401);
  const got = await fetch(`${url}/jobs?key=t0ken`);
  expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
  const { status, stdout, stderr } = await running.stop();
  expect(status).toBe(0);
  expect(stderr).toMatch(
    /^Signatures are checked with secret [0-9a-f]{12} of WEBHOOK_SECRET\.\n.*does not send again\..*\n$/,
  );
  expect(stdout.split("\n").map((line) => line.replace(/^\d\d:\d\d:\d\d/, "TIME"))).toEqual([
    url,
    "TIME  /any/path  job.succeeded  job_42  msg_1  50 bytes  verified",
    `TIME  /any/path  job.succeeded  job_42  msg_1  50 bytes  refused with 401: signature-mismatch (tried secret ${fingerprintOf([SECRET])})`,
    "TIME  /any/path  unknown event  no job  no id  1 bytes  refused with 401: missing-header",
    "TIME  /jobs  unknown event  no job  no id  0 bytes  refused with 405: method",
    "",
  ]);
});

test("without a secret, it works too, and says that no signature is checked", async () => {
  const { running, post } = await listening([], {});
  expect((await post(BODY, {})).status).toBe(200);
  const { stdout, stderr } = await running.stop();
  expect(stdout).toContain("signature not checked");
  expect(stderr).toMatch(/^Signatures are not checked, because there is no signing secret/);
});

test("a stack that cannot be read is a warning, but an error if the user named it", async () => {
  const pulumi = fakePulumi({ error: "incorrect passphrase" });
  const { running } = await listening([], { pulumi });
  expect((await running.stop()).stderr).toMatch(
    /^warning: .*incorrect passphrase\. If it is lost, follow \S+lost-state\.md\nSignatures are not checked/,
  );
  expect(await run(["listen", "--stack", "dev"], { pulumi })).toMatchObject({ status: 1 });
});

test("a delivery is forwarded byte for byte with its headers, and the receiver's response goes back", async () => {
  const target = await receiver({ status: 422, headers: { "retry-after": "7" }, body: "no such job" });
  const { running, post } = await listening(["--forward-to", target.url]);
  const response = await post(`${BODY}\r\n`);
  expect([response.status, await response.text()]).toEqual([422, "no such job"]);
  expect(response.headers.get("retry-after")).toBe("7");
  expect(target.received[0]?.body).toBe(`${BODY}\r\n`);
  expect(target.received[0]?.headers).toMatchObject({
    "webhook-id": "msg_1",
    "content-type": "application/json",
  });
  expect(target.received[0]?.headers.cookie).toBeUndefined();
  expect((await running.stop()).stdout).toMatch(/verified {2}forwarded: 422 after \d+ ms\n$/);
});

test("what is refused is not forwarded, because the way here may be public", async () => {
  const target = await receiver();
  const { running, post } = await listening(["--forward-to", target.url]);
  expect((await post(BODY, signed(BODY, OTHER_SECRET))).status).toBe(401);
  await running.stop();
  expect(target.received).toEqual([]);
});

test.each(["reset", "end-in-body"] as const)(
  "a receiver that does not respond (%s) is 502, so that the sender retries",
  async (reaction) => {
    const target = await receiver(reaction);
    const { running, post } = await listening(["--forward-to", target.url]);
    expect((await post()).status).toBe(502);
    expect((await running.stop()).stdout).toMatch(/forwarded: no response \(\w+\), so the sender got 502\n$/);
  },
);

test("Enter forwards the last delivery again, byte for byte", async () => {
  const target = await receiver(500, 204);
  const { running, post } = await listening(["--forward-to", target.url]);
  running.type("");
  await post();
  running.type("");
  await running.until(/replayed: 204/);
  await running.stop();
  expect(target.received).toHaveLength(2);
  expect(target.received[1]?.headers["webhook-signature"]).toBe(
    target.received[0]?.headers["webhook-signature"],
  );
  expect(target.received[1]?.body).toBe(BODY);
});

test("--save writes captures that verify and send read, and --json prints a value for each delivery", async () => {
  const folder = join(makeFolder({}), "deep/captures");
  const { running, post } = await listening(["--save", folder, "--json"]);
  await post(Buffer.from([0xff, 0xfe]));
  const { stdout } = await running.stop();
  const [first, second] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(first).toEqual({ url: expect.stringMatching(/^http:/), page: null });
  const [file = ""] = readdirSync(folder);
  expect(file).toMatch(/^\d{13}-msg_1\.json$/);
  // File modes mean nothing on Windows.
  if (process.platform !== "win32") expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, file), "utf8")).not.toContain("session=1");
  expect(second).toEqual({
    time: expect.stringMatching(/Z$/),
    path: "/any/path",
    id: "msg_1",
    event: null,
    jobId: null,
    bytes: 2,
    verdict: "verified",
    tried: [],
    isRefused: false,
    status: 200,
    forwarded: null,
    capture: join(folder, file),
    replayed: false,
  });
  const target = await receiver();
  expect(await run(["verify", "--capture", join(folder, file)], { env })).toMatchObject({ status: 0 });
  const args = ["send", "--capture", join(folder, file), "--to", target.url];
  expect(await run(args, { env })).toMatchObject({ status: 0 });
});

test("a folder of --save that cannot be written is a warning, and the delivery is accepted", async () => {
  const { running, post } = await listening(["--save", join(makeFolder({ file: "" }), "file")]);
  expect((await post()).status).toBe(200);
  expect((await running.stop()).stderr).toMatch(/warning: cannot save a capture in .*\((EEXIST|ENOTDIR)\)/);
});

test("a body of more than 1 MiB is refused, and one that ends early is no delivery", async () => {
  const { running, url, post } = await listening([]);
  const large = "x".repeat(1024 * 1024 + 1);
  expect((await post(large, {})).status).toBe(413);
  const request = http.request(url, { method: "POST", headers: { "content-length": 100 } });
  request.on("error", () => undefined).write("{", () => request.destroy());
  await new Promise((resolve) => request.once("close", resolve));
  expect((await post()).status).toBe(200);
  expect((await running.stop()).stdout.match(/\d\d:\d\d:\d\d/g)).toHaveLength(2);
});

test("a body without an end ends its connection", async () => {
  const { running, url, post } = await listening([]);
  expect((await sendWithoutEnd(url)).sent).toBeLessThan(100 * 1024 * 1024);
  expect((await post()).status).toBe(200);
  expect((await running.stop()).stdout).toMatch(/refused with 413: size/);
});

test("of what is not verified, a run saves a thousand requests, and says so", () => {
  const folder = makeFolder({});
  let stderr = "";
  const sink = { write: (text: string) => (stderr += text) };
  const report = reporter(new Output({ stdout: sink, stderr: sink, env: {}, json: false }), folder);
  const arrive = (n: number, verdict: string) => {
    const at = new Date(n);
    const summary = {
      path: "/",
      id: "m",
      event: null,
      jobId: null,
      bytes: 2,
      verdict,
      tried: [],
      status: 200,
      isRefused: false,
    };
    report({ at, summary, headers: [], body: Buffer.from("{}"), forwarded: undefined, isReplay: false });
  };
  for (let n = 0; n < 1_005; n += 1) arrive(n, n % 2 === 0 ? "not checked" : "signature-mismatch");
  expect(stderr).toMatch(/warning: 1000 requests were saved that are not verified/);
  arrive(2_000, "verified");
  expect(readdirSync(folder)).toHaveLength(1_001);
});

test("a port that is taken, or the one of --forward-to, is refused", async () => {
  const { running, url } = await listening([]);
  const { port } = new URL(url);
  const taken = await run(["listen", "--port", port], { env });
  expect(taken.stderr).toMatch(
    new RegExp(`Cannot listen on 127.0.0.1:${port} \\(EADDRINUSE\\).*\\(PORT_UNAVAILABLE\\)`),
  );
  await running.stop();
  const itself = await run(["listen", "--port", "9", "--forward-to", "http://localhost:9/x"], { env });
  expect(itself.stderr).toMatch(/would forward to itself/);
});

test("an explicit --stack gives secrets and tolerance", async () => {
  const output = { ...receiverOutput([SECRET]), toleranceSeconds: 0 };
  const pulumi = fakePulumi({ outputs: { receiver: output } });
  const { running, post } = await listening(["--stack", "dev"], {
    pulumi,
    env: { WEBHOOK_SECRET: OTHER_SECRET },
  });
  expect((await post(BODY, sign({ id: "m", timestamp: 1, body: BODY, secret: SECRET }))).status).toBe(200);
  expect((await running.stop()).stderr).toContain("the output receiver of the stack dev");
});
