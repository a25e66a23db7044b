import { createHmac } from "node:crypto";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { bodiesBefore } from "../../src/cli/commands/verify/bodiesBefore";
import { diagnose } from "../../src/cli/commands/verify/diagnose";
import { sign } from "../../src/signature";
import { validationBody } from "../../src/validation/validateReceiver";
import { fakePulumi, makeFolder, OTHER_SECRET, receiverOutput, run, SECRET } from "./running";

const NOW = 1_795_253_400;
const DATA = { type: "job.succeeded", data: { jobId: "job_1/é", list: [1, { a: null }] } };
const JSON_TEXT = JSON.stringify(DATA);

const signing = {
  secrets: [SECRET],
  toleranceSeconds: 300,
  endpoints: {},
  others: new Map([["old", [OTHER_SECRET]]]),
  source: "",
};
const headersFor = (signed: string | Buffer, { secret = SECRET, timestamp = NOW, id = "msg_1" } = {}) =>
  Object.entries(sign({ id, timestamp, body: signed, secret }));

function causeOf(
  headers: readonly (readonly [string, string])[],
  body: string | Buffer = JSON_TEXT,
  receivedAt?: number,
) {
  const capture = { headers, body: Buffer.from(body) };
  const diagnosis = diagnose({ capture, signing, receivedAt, now: NOW + 3600 });
  return diagnosis.verified ? "verified" : diagnosis.cause;
}

const without = (name: string) => headersFor(JSON_TEXT).filter(([each]) => each !== name);
const twice = (name: string) => [
  ...headersFor(JSON_TEXT),
  ...headersFor(JSON_TEXT).filter(([each]) => each === name),
];
const changed = (name: string, value: string) => [...without(name), [name, value] as const];
const rawHmac = (key: string) =>
  `v1,${createHmac("sha256", key).update(`msg_1.${NOW}.${JSON_TEXT}`).digest("base64")}`;

test.each([
  ["verified", headersFor(JSON_TEXT)],
  ["missing-header", without("webhook-id")],
  ["malformed-id", twice("webhook-id")],
  ["verified", twice("webhook-signature")],
  ["malformed-id", changed("webhook-id", "a b")],
  ["malformed-timestamp", changed("webhook-timestamp", "2026-11-21")],
  ["malformed-signature", changed("webhook-signature", "v1,abc")],
  ["timestamp-in-milliseconds", headersFor(JSON_TEXT, { timestamp: NOW * 1000 })],
  ["timestamp-too-new", headersFor(JSON_TEXT, { timestamp: NOW + 2 * 3600 })],
  ["other-secret", headersFor(JSON_TEXT, { secret: OTHER_SECRET })],
  ["key-not-decoded", changed("webhook-signature", rawHmac(SECRET))],
  ["key-not-decoded", changed("webhook-signature", rawHmac(SECRET.slice(6)))],
  ["signature-mismatch", headersFor("something else")],
] as const)("the cause %s is found in the headers", (cause, headers) => {
  expect(causeOf(headers)).toBe(cause);
});

test("the age counts only at the time when the receiver got it, on both sides", () => {
  const headers = headersFor(JSON_TEXT);
  expect([NOW, NOW + 300, NOW + 301, NOW - 301].map((at) => causeOf(headers, JSON_TEXT, at))).toEqual([
    "verified",
    "verified",
    "timestamp-too-old",
    "timestamp-too-new",
  ]);
});

const python = '{"type": "job.succeeded", "data": {"jobId": "job_1/\\u00e9", "list": [1, {"a": null}]}}';
const php = '{"type":"job.succeeded","data":{"jobId":"job_1\\/\\u00e9","list":[1,{"a":null}]}}';

test.each([
  ["newline-added", JSON_TEXT, `${JSON_TEXT}\n`],
  ["newline-added", JSON_TEXT, `${JSON_TEXT}\r\n`],
  ["newline-removed", `${JSON_TEXT}\n`, JSON_TEXT],
  ["line-endings-changed", "{\r\n}", "{\n}"],
  ["line-endings-changed", "{\n}", "{\r\n}"],
  ["byte-order-mark", JSON_TEXT, `\uFEFF${JSON_TEXT}`],
  ["byte-order-mark", `\uFEFF${JSON_TEXT}`, JSON_TEXT],
  ["body-reserialized", JSON_TEXT, JSON.stringify(DATA, null, 3)],
  ["body-reserialized", JSON.stringify(DATA, null, 2), JSON_TEXT],
  ["body-reserialized", python, JSON_TEXT],
  ["body-reserialized", php, JSON_TEXT],
  ["body-reserialized", JSON_TEXT, python],
  [
    "body-reserialized",
    validationBody("2026-01-01"),
    JSON.stringify(JSON.parse(validationBody("2026-01-01"))),
  ],
  ["body-json-string", JSON_TEXT, JSON.stringify(JSON_TEXT)],
  ["body-base64", JSON_TEXT, Buffer.from(JSON_TEXT).toString("base64")],
  ["body-compressed", JSON_TEXT, gzipSync(JSON_TEXT)],
  ["signature-mismatch", JSON_TEXT, "{}"],
] as const)("the cause %s is found in the body", (cause, signed, body) => {
  expect(causeOf(headersFor(signed), body)).toBe(cause);
  if (cause !== "signature-mismatch")
    expect(causeOf(headersFor(signed, { secret: OTHER_SECRET }), body)).toBe(cause);
});

test("no body makes the search fail, or last", async () => {
  const bodies = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.property(bodies, (bytes) => {
      expect([...bodiesBefore(Buffer.from(bytes))].length).toBeLessThan(20);
    }),
  );
  expect([...bodiesBefore(Buffer.from([0x1f, 0x8b, 0, 1]))]).toEqual([]);
});

const pulumi = fakePulumi({ outputs: { receiver: receiverOutput([SECRET]) } });
const captureOf = (body: string, options = {}) =>
  join(makeFolder({ file: JSON.stringify({ headers: headersFor(JSON_TEXT, options), body }) }), "file");

test("a delivery that verifies is shown with the fingerprint of its secret, and the exit status is 0", async () => {
  const ended = await run(["verify", "--capture", captureOf(JSON_TEXT)], { pulumi });
  expect(ended.status).toBe(0);
  expect(ended.stdout).toMatch(
    /^Verified: msg_1 was signed with the secret [0-9a-f]{12}\.\nIt was sent at 2026-11-21T\S+Z\.\n$/,
  );
});

test.each([
  [300, true],
  [0, false],
])(
  "with a tolerance of %i, an old capture is said to be refused now: %s",
  async (toleranceSeconds, isSaid) => {
    const receiver = { ...receiverOutput([SECRET]), toleranceSeconds };
    const { stderr } = await run(["verify", "--capture", captureOf(JSON_TEXT)], {
      pulumi: fakePulumi({ outputs: { receiver } }),
    });
    expect(stderr.includes("refuses it now as too old")).toBe(isSaid);
  },
);

test("a delivery that does not verify is explained, and the exit status is 1", async () => {
  const path = captureOf(JSON.stringify(DATA, null, 2));
  const { status, stdout } = await run(["verify", "--capture", path], { pulumi });
  expect(status).toBe(1);
  expect(stdout.split("\n")).toEqual([
    "Not verified: body-reserialized.",
    expect.stringMatching(
      /^The sender signed this JSON as JSON\.stringify writes it \(\d+ bytes were signed/,
    ),
    expect.stringMatching(/^It was signed with the secret [0-9a-f]{12}\.$/),
    expect.stringMatching(/^What to do: Something parsed the body and wrote it again\. /),
    "",
  ]);
  const { stdout: json } = await run(["verify", "--capture", path, "--json"], { pulumi });
  expect(JSON.parse(json)).toMatchObject({
    verified: false,
    cause: "body-reserialized",
    secret: expect.any(String),
  });
});

test.each([
  ["a value", receiverOutput([OTHER_SECRET])],
  ["JSON text", JSON.stringify(receiverOutput([OTHER_SECRET]))],
])(
  "the other receivers of the stack are known by their outputs as %s, and what is not one is left out",
  async (_as, old) => {
    const half = { version: 1, secrets: ["whsec_x"] };
    const outputs = { receiver: receiverOutput([SECRET]), old, half, url: "x" };
    const path = captureOf(JSON_TEXT, { secret: OTHER_SECRET });
    const ended = await run(["verify", "--capture", path], { pulumi: fakePulumi({ outputs }) });
    expect(ended.stdout).toMatch(/^Not verified: other-secret\.\nThe stack's output old has the secret/);
  },
);

test("a capture may be a request as it was sent, and --at gives the time", async () => {
  const headers = headersFor(JSON_TEXT).map(([name, value]) => `${name}: ${value}\n`);
  const folder = makeFolder({ request: `${headers.join("")}\n${JSON_TEXT}` });
  const args = ["verify", "--capture", join(folder, "request"), "--json"];
  const env = { WEBHOOK_SECRET: SECRET };
  expect((await run(args, { env })).status).toBe(0);
  const { stdout } = await run([...args, "--at", "2026-11-21T19:30:00Z"], { env });
  expect(JSON.parse(stdout)).toMatchObject({ verified: false, cause: "timestamp-too-old" });
});

test.each([
  [[], /'--capture <file>' not specified/],
  [["--capture", "/nowhere"], /FILE_UNREADABLE/],
  [["--capture", "c", "--at", "yesterday"], /a time with its zone/],
])("verify refuses the wrong use %j", async (args, why) => {
  const { status, stderr } = await run(["verify", ...args], { env: { WEBHOOK_SECRET: SECRET } });
  expect(status).toBe(1);
  expect(stderr).toMatch(why);
});
