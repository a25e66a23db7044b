import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { receiver } from "../emulator/receiver";
import { cleanUp, makeFolder, OTHER_SECRET, run, SECRET } from "./commandLine";
import { addressOf, listen, send } from "./listening";

afterEach(cleanUp);

test("listen prints its address as the first line, then the deliveries and refusals of any path", async () => {
  const started = listen();
  const url = await addressOf(started);
  expect((await send(`${url}/any/path?a=b`)).status).toBe(200);
  expect((await send(url, { id: "msg_2", secret: OTHER_SECRET })).status).toBe(401);
  expect((await send(url, { id: "msg_3", body: "not json" })).status).toBe(200);
  expect((await fetch(url)).status).toBe(405);
  const { status, stdout, stderr } = await started.signal("SIGINT");
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout.replace(/^\d\d:\d\d:\d\d/gm, "time")).toBe(
    `${url}
time  job.succeeded  job_1  msg_1  verified
time  refused with 401: signature-mismatch  msg_2
time  unknown event  no job  msg_3  verified
time  refused with 405: method
`,
  );
});

test("listen --json prints each delivery and refusal as JSON on one line, harmless for a terminal", async () => {
  const started = listen(["--json"]);
  const url = await addressOf(started);
  await send(url, { body: JSON.stringify({ type: "\u001b[2Jjob\u202e\n", data: { jobId: 7 } }) });
  await send(url, { id: "msg_2", secret: OTHER_SECRET });
  const { stdout } = await started.signal("SIGTERM");
  const [first, ...lines] = stdout.trimEnd().split("\n");
  expect(JSON.parse(first ?? "")).toEqual({ url });
  for (const control of ["\u001b", "\u202e"]) expect(stdout).not.toContain(control);
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      time,
      verified: true,
      event: "\u001b[2Jjob\u202e\n",
      jobId: "7",
      id: "msg_1",
      timestamp: expect.any(Number),
      status: 200,
      forwarded: null,
    },
    { time, verified: false, reason: "signature-mismatch", status: 401, unverifiedId: "msg_2" },
  ]);
});

test("listen --events shows and forwards only these events, and accepts the others", async () => {
  const target = await receiver(200, 200, 200);
  const args = ["--forward-to", target.url, "--events", "job.failed, job.paused", "--events", "order.paid"];
  const started = listen([...args, "--any-event", "--json"]);
  const url = await addressOf(started);
  const event = (type: string) => JSON.stringify({ type, data: { jobId: "job_1" } });
  for (const type of ["job.succeeded", "job.failed", "order.paid", "job.running"])
    expect((await send(url, { body: event(type) })).status).toBe(200);
  expect((await send(url, { body: event("job.running"), secret: OTHER_SECRET })).status).toBe(401);
  const { stdout } = await started.signal("SIGINT");
  const [, ...lines] = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: "job.failed" },
    { event: "order.paid" },
    { verified: false },
  ]);
  expect(target.received.map(({ body }) => JSON.parse(body).type)).toEqual(["job.failed", "order.paid"]);
});

test("listen --print shows the headers of a delivery and the body, and no header that may hold a credential", async () => {
  const started = listen(["--print"]);
  const url = await addressOf(started);
  const body = '{\n  "type": "job.running",\n  "data": "\u001b[2J"\n}';
  const opening = ["authorization", "cookie", "x-original-url", "x-amzn-oidc-data", "referer"];
  const headers = Object.fromEntries(opening.map((name) => [name, "https://u:opens@h/"]));
  await send(url, { body, headers: { ...headers, "webhook-trace": "t1" } });
  const { stdout } = await started.signal("SIGINT");
  expect(stdout).toMatch(/ {2}verified\n {2}host: .*\n/i);
  expect(stdout).toMatch(/\n {2}webhook-signature: v1,\S{44}\n/);
  expect(stdout).toMatch(/\n {2}webhook-trace: t1\n/);
  expect(stdout).toContain('\n\n  {\n    "type": "job.running",\n    "data": "\\u001b[2J"\n  }\n');
  expect(stdout).not.toContain("opens");
});

test("listen --print --json has the headers and the body, in base64 if it is not UTF-8", async () => {
  const started = listen(["--print", "--json"]);
  const url = await addressOf(started);
  await send(url, { body: Buffer.from([0xff, 0x00]) });
  const { stdout } = await started.signal("SIGINT");
  const { headers, body, isBase64Encoded } = JSON.parse(stdout.split("\n")[1] ?? "");
  expect(headers).toContainEqual(["webhook-id", "msg_1"]);
  expect([body, isBase64Encoded]).toEqual(["/wA=", true]);
});

describe("with --save", () => {
  const filesIn = (folder: string) =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));

  test("listen writes each delivery to a file that verify reads, and only its owner can", async () => {
    const folder = join(makeFolder({}), "new", "captures");
    const started = listen(["--save", folder, "--json"]);
    const url = await addressOf(started);
    await send(url, { body: '{"n": 1.0}' });
    await send(url, {
      id: "/etc/msg_2",
      body: Buffer.from([0xfe, 0xff]),
      headers: { authorization: "Bearer x", "x-forwarded-uri": "/?access=Bearer" },
    });
    await send(url, { id: "msg_3", secret: OTHER_SECRET });
    await fetch(url);
    const { stdout } = await started.signal("SIGINT");
    const files = filesIn(folder);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .slice(1)
        .map((line) => JSON.parse(line).capture),
    ).toEqual([...files, null]);
    expect(files.map((name) => basename(name).replace(/^\d+-/, ""))).toEqual([
      "msg_1.json",
      "_etc_msg_2.json",
      "msg_3-signature-mismatch.json",
    ]);
    expect(files.map((name) => statSync(name).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    expect(files.map((name) => readFileSync(name, "utf8")).join("")).not.toContain("Bearer");
    const verify = (file = "") =>
      run(["verify", "--capture", file, "--secret-env", "THE_SECRET"], { env: { THE_SECRET: SECRET } });
    expect((await verify(files[0])).stdout).toMatch(/^Verified: msg_1 /);
    expect((await verify(files[1])).stdout).toMatch(/^Verified: \/etc\/msg_2 /);
    expect((await verify(files[2])).stdout).toMatch(/^Not verified: wrong-secret/);
  });

  test("listen goes on when a file cannot be written, and says so", async () => {
    const folder = join(makeFolder({}), "captures");
    const started = listen(["--save", folder]);
    const url = await addressOf(started);
    rmSync(folder, { recursive: true });
    expect((await send(url)).status).toBe(200);
    const { status, stdout, stderr } = await started.signal("SIGINT");
    expect([status, stderr]).toEqual([0, "warning: the delivery msg_1 was not saved (ENOENT)\n"]);
    expect(stdout).toMatch(/verified\n$/);
  });

  test("listen fails with one line when the folder cannot be made", async () => {
    const { status, stderr } = await listen(["--save", "/dev/null/captures"]).ended;
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: the folder \/dev\/null\/captures of --save .*\(FILE_UNWRITABLE\)\n$/);
  });
});

test("listen says what it waits for when it is stopped during a delivery, and a second Ctrl-C ends that", async () => {
  const target = await receiver("hang");
  const started = listen(["--forward-to", target.url]);
  void send(await addressOf(started)).catch(() => undefined);
  await started.untilTrue(() => target.received.length > 0);
  started.child.kill("SIGINT");
  await started.until(/^Stopping\. Waiting up to 2 s for 1 request under way.*press Ctrl-C again\.$/m);
  // Had the wait ended by itself, it would be 0.
  expect((await started.signal("SIGINT")).status).toBe(130);
});

describe("with --forward-to", () => {
  test("listen forwards what verifies byte for byte, and answers what the target answers", async () => {
    const target = await receiver({
      status: 418,
      headers: { "retry-after": "7", "set-cookie": "a=b" },
      body: "a teapot",
    });
    const started = listen(["--forward-to", `${target.url}?a=b`]);
    const url = await addressOf(started);
    const body = Buffer.from('{ "type":"job.failed",\t"data" : {"jobId": 12345678901234567890} }\n');
    await send(url, { id: "msg_forged", secret: OTHER_SECRET });
    const answer = await send(url, { body, headers: { authorization: "Bearer x", cookie: "c=d" } });
    expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([
      418,
      "7",
      "a teapot",
    ]);
    expect(answer.headers.has("set-cookie")).toBe(false);
    expect(target.received).toHaveLength(1);
    const [{ headers, body: received } = { headers: {}, body: "" }] = target.received;
    expect(received).toBe(body.toString("utf8"));
    expect(headers).toMatchObject({ "webhook-id": "msg_1", "content-type": "application/json" });
    expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined]);
    const { stdout } = await started.signal("SIGINT");
    expect(stdout).toMatch(
      /job\.failed {2}12345678901234567890 {2}msg_1 {2}verified, forwarded: 418 after \d+ ms\n$/,
    );
  });

  test("listen forwards bodies that are not text unchanged, up to the limit of a receiver", async () => {
    const hashes: string[] = [];
    const target = createServer(async (request, response) => {
      const hash = createHash("sha256");
      for await (const chunk of request) hash.update(chunk);
      hashes.push(hash.digest("hex"));
      response.end();
    });
    await new Promise<void>((listening) => target.listen(0, "127.0.0.1", listening));
    const { port } = target.address() as AddressInfo;
    const url = await addressOf(listen(["--forward-to", `http://127.0.0.1:${port}/`]));
    const body = Buffer.from(Array.from({ length: 1024 * 1024 }, (_, index) => (index * 31) % 256));
    expect((await send(url, { body })).status).toBe(200);
    expect(hashes).toEqual([createHash("sha256").update(body).digest("hex")]);
    expect((await send(url, { body: Buffer.alloc(1024 * 1024 + 1) })).status).toBe(413);
    target.close();
  });

  test("listen answers 502 when the target's answer breaks off", async () => {
    const target = await receiver("end-in-body");
    const url = await addressOf(listen(["--forward-to", target.url]));
    expect((await send(url)).status).toBe(502);
  });

  test("listen answers 502 when the target is dead, so that the sender retries", async () => {
    const started = listen(["--forward-to", "http://127.0.0.1:1/", "--json"]);
    expect((await send(await addressOf(started))).status).toBe(502);
    const { stdout } = await started.signal("SIGINT");
    expect(JSON.parse(stdout.split("\n")[1] ?? "")).toMatchObject({
      status: 502,
      forwarded: { status: null, failure: "ECONNREFUSED" },
    });
  });

  test("listen forwards at most 64 deliveries at once, and answers 503 to the rest", async () => {
    const waiting: ServerResponse[] = [];
    const target = createServer((_request, response) => void waiting.push(response));
    await new Promise<void>((listening) => target.listen(0, "127.0.0.1", listening));
    const { port } = target.address() as AddressInfo;
    const url = await addressOf(listen(["--forward-to", `http://127.0.0.1:${port}/`]));
    const statuses: number[] = [];
    const sent = Array.from({ length: 80 }, async (_, index) => {
      statuses.push((await send(url, { id: `msg_${index}` })).status);
    });
    while (statuses.length < 16 || waiting.length < 64)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(statuses).toEqual(Array(16).fill(503));
    expect(waiting).toHaveLength(64);
    for (const response of waiting) response.end();
    await Promise.all(sent);
    expect(statuses.filter((status) => status === 200)).toHaveLength(64);
    target.close();
  });
});
