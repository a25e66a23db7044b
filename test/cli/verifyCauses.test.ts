import { createHmac } from "node:crypto";
import { fingerprintOf } from "../../src/stack/config";
import { cleanUp, OTHER_SECRET, SECRET } from "./commandLine";
import { type Capture, COMPACT, CONTENT, HOUR, lines, NOW, OLD, verify } from "./verifying";

afterEach(cleanUp);

/** What Python's json.dumps writes of `CONTENT`. */
const PYTHON =
  '{"type": "job.succeeded", "data": {"jobId": "j\\u00f6b/1", "status": "<done>", "cost": [1, 2.5], "note": null, "a b": {}}}';
const SORTED =
  '{"data":{"a b":{},"cost":[1,2.5],"jobId":"jöb/1","note":null,"status":"<done>"},"type":"job.succeeded"}';
const JSONB = '{"data": {"jobId": "1", "status": "failed"}, "type": "job.failed"}';

const utf8 = (text: string) => Buffer.from(text);
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const MULTILINE = '{\n  "a": "ö"\n}\n';

const changes: Readonly<Record<string, readonly [reason: string, description: RegExp, capture: Capture]>> = {
  "was parsed and written by Python": [
    "body-reserialized",
    /compact JSON, as JSON\.stringify/,
    { body: PYTHON },
  ],
  "was parsed and written by JSON.stringify": [
    "body-reserialized",
    /Python's json\.dumps.*escaped non-ASCII/,
    { signed: PYTHON, body: COMPACT },
  ],
  "was printed with an indent of 2": [
    "body-reserialized",
    /compact/,
    { body: JSON.stringify(CONTENT, null, 2) },
  ],
  "was compacted from an indent of 4": [
    "body-reserialized",
    /indent of 4/,
    { signed: JSON.stringify(CONTENT, null, 4), body: COMPACT },
  ],
  "was compacted from an indent of 2 with a last newline": [
    "body-reserialized",
    /indent of 2 spaces, and a newline/,
    { signed: `${JSON.stringify(CONTENT, null, 2)}\n`, body: COMPACT },
  ],
  "lost its sorted keys": ["body-reserialized", /sorted keys/, { signed: SORTED, body: COMPACT }],
  "got sorted keys, as Go writes a map": [
    "body-reserialized",
    /compact JSON.*keys in another order/,
    { body: SORTED.replace("<done>", "\\u003cdone\\u003e") },
  ],
  "got sorted keys and lost the fractions of whole numbers, as Go writes a map": [
    "body-reserialized",
    /compact JSON.*numbers written in another way and the keys in another order/,
    {
      signed: '{"type":"job.succeeded","data":{"cost":1.0,"count":3,"jobId":"1"}}',
      body: '{"data":{"cost":1,"count":3,"jobId":"1"},"type":"job.succeeded"}',
    },
  ],
  "got sorted keys in PostgreSQL's jsonb": [
    "body-reserialized",
    /compact JSON.*keys in another order/,
    { signed: '{"type":"job.failed","data":{"status":"failed","jobId":"1"}}', body: JSONB },
  ],
  "lost its escaped slashes": [
    "body-reserialized",
    /escaped slashes \(/,
    { signed: COMPACT.replaceAll("/", "\\/"), body: COMPACT },
  ],
  "lost the escapes of PHP": [
    "body-reserialized",
    /escaped slashes and non-ASCII/,
    { signed: COMPACT.replaceAll("/", "\\/").replace("ö", "\\u00f6"), body: COMPACT },
  ],
  "lost the escapes of Go": [
    "body-reserialized",
    /escaped <, > and &/,
    { signed: COMPACT.replace("<done>", "\\u003cdone\\u003e"), body: COMPACT },
  ],
  "keeps a number that no parser keeps": [
    "body-reserialized",
    /compact/,
    { signed: '{"a":1.0,"b":12345678901234567890}', body: '{"a": 1.0, "b": 12345678901234567890}' },
  ],
  "got a newline": ["newline-added", /without the newline at its end/, { body: `${COMPACT}\n` }],
  "got a newline of Windows": ["newline-added", /without the newline at its end/, { body: `${COMPACT}\r\n` }],
  "lost its newline": [
    "newline-removed",
    /with a newline at its end/,
    { signed: `${COMPACT}\n`, body: COMPACT },
  ],
  "got the line ends of Windows": [
    "line-endings-changed",
    /Unix/,
    { signed: MULTILINE, body: MULTILINE.replaceAll("\n", "\r\n") },
  ],
  "got the line ends of Unix": [
    "line-endings-changed",
    /Windows/,
    { signed: MULTILINE.replaceAll("\n", "\r\n"), body: MULTILINE },
  ],
  "got a byte order mark": [
    "byte-order-mark",
    /without the byte order mark/,
    { body: Buffer.concat([BOM, utf8(COMPACT)]) },
  ],
  "lost its byte order mark": [
    "byte-order-mark",
    /with a byte order mark/,
    { signed: Buffer.concat([BOM, utf8(COMPACT)]), body: COMPACT },
  ],
  "was read as Latin-1": [
    "encoding-changed",
    /read as Latin-1/,
    { body: Buffer.from(utf8(COMPACT).toString("latin1"), "utf8") },
  ],
  "was written as Latin-1": ["encoding-changed", /in UTF-8/, { body: Buffer.from(COMPACT, "latin1") }],
};

test.each(Object.entries(changes))(
  "verify finds that the body %s",
  async (_what, [reason, description, capture]) => {
    const { status, json } = await verify(capture, ["--json"]);
    expect(json).toMatchObject({ verified: false, reason, finding: expect.stringMatching(description) });
    expect(json.secret).toEqual({ name: "the secret", fingerprint: fingerprintOf([SECRET]) });
    expect(status).toBe(1);
  },
);

test("verify prints the reason, what it found and what to do", async () => {
  const { status, stdout, stderr } = await verify({ body: PYTHON });
  expect([status, stderr]).toEqual([1, ""]);
  expect(stdout).toMatch(
    /^Not verified: body-reserialized\.\nThe signature matches the secret for another body: the sender signed compact JSON, .* \(\d+ bytes were signed, and this body has \d+\)\.\nSigned with: the secret \(fingerprint [0-9a-f]{12}\)\.\nWhat to do: Something parsed the body and wrote it again\. .*\n$/,
  );
});

test("verify names the secrets that it tried, by fingerprint, when none signed", async () => {
  const { status, stdout } = await verify({ secret: OTHER_SECRET });
  expect(status).toBe(1);
  expect(stdout).toContain("Not verified: wrong-secret.");
  expect(stdout).toContain(`Tried: the secret (fingerprint ${fingerprintOf([SECRET])}).`);
});

const withHeader = (name: string, value: string | undefined) => (headers: Readonly<Record<string, string>>) =>
  lines(
    Object.fromEntries(
      Object.entries({ ...headers, [name]: value ?? "" }).filter(
        ([key]) => key !== name || value !== undefined,
      ),
    ),
  );
const signedOver = (key: string | Uint8Array, content: string, encoding: "base64" | "hex" = "base64") =>
  withHeader(
    "webhook-signature",
    `${encoding === "hex" ? "" : "v1,"}${createHmac("sha256", key).update(content).digest(encoding)}`,
  );
const withSignatures =
  (signatures: (right: string) => string) => (headers: Readonly<Record<string, string>>) =>
    withHeader("webhook-signature", signatures(headers["webhook-signature"] ?? ""))(headers);
const OTHER_SIGNATURE = `v1,${Buffer.alloc(32).toString("base64")}`;
const KEY = Buffer.from(SECRET.slice(6), "base64");
const WHOLE = `msg_1.${OLD}.${COMPACT}`;

const others: Readonly<Record<string, readonly [reason: string, capture: Capture]>> = {
  "without an id": ["missing-id", { headers: withHeader("webhook-id", undefined) }],
  "without a timestamp": ["missing-timestamp", { headers: withHeader("webhook-timestamp", undefined) }],
  "without a signature": ["missing-signature", { headers: withHeader("webhook-signature", undefined) }],
  "without any header": ["missing-id", { headers: () => "" }],
  "with two ids": ["duplicate-id", { headers: (headers) => `${lines(headers)}Webhook-Id: msg_1\n` }],
  "with a date as timestamp": [
    "malformed-timestamp",
    { headers: withHeader("webhook-timestamp", "2026-01-01T00:00:00Z") },
  ],
  "with a dot in the id": ["malformed-id", { headers: withHeader("webhook-id", "msg.1") }],
  "with a signature of another version": [
    "no-v1-signature",
    { headers: withHeader("webhook-signature", "v1a,AAAA") },
  ],
  "with a cut-off signature": [
    "malformed-signature",
    { headers: withHeader("webhook-signature", "v1,AAAA") },
  ],
  // One of these signatures is right, and in the right form.
  "with two signature headers, joined by Node": [
    "duplicate-signature",
    { headers: withSignatures((right) => `${right}, ${OTHER_SIGNATURE}`) },
  ],
  "with two signature headers, joined by AWS": [
    "duplicate-signature",
    { headers: withSignatures((right) => `${right},${right}`) },
  ],
  "with 33 signatures": [
    "too-many-signatures",
    { headers: withSignatures((right) => Array(33).fill(right).join(" ")) },
  ],
  "with a hexadecimal signature": ["signature-encoding", { headers: signedOver(KEY, WHOLE, "hex") }],
  "signed with the secret's characters": ["key-not-decoded", { headers: signedOver(SECRET, WHOLE) }],
  "signed with the secret's base64": ["key-not-decoded", { headers: signedOver(SECRET.slice(6), WHOLE) }],
  "signed over the body alone": ["signed-content", { headers: signedOver(KEY, COMPACT) }],
  "with milliseconds as timestamp": ["timestamp-in-milliseconds", { timestamp: NOW * 1000 }],
  "from the future": ["timestamp-too-new", { timestamp: NOW + HOUR }],
  "with another body": ["wrong-secret", { body: "{}" }],
  "with another body that is not JSON": ["wrong-secret", { body: "not json" }],
  "with a body of deep JSON": ["wrong-secret", { body: "[".repeat(100_000) + "]".repeat(100_000) }],
};

test.each(Object.entries(others))(
  "verify finds the cause for a delivery %s",
  async (_what, [reason, capture]) => {
    const { status, json } = await verify(capture, ["--json"]);
    expect(json).toMatchObject({
      verified: false,
      reason,
      finding: expect.stringMatching(/^[A-Z].*\.$/),
      advice: expect.stringMatching(/^[A-Z].*\.$/),
    });
    expect(status).toBe(1);
  },
);
