import { createHmac } from "node:crypto";
import { join } from "node:path";
import { sign } from "../../src/signature";
import { fingerprintOf } from "../../src/stack/config";
import { receiver } from "../emulator/receiver";
import {
  cleanUp,
  type Ended,
  makeFolder,
  OTHER_SECRET,
  run,
  SECRET,
  type StartOptions,
  stackFolder,
  start,
} from "./commandLine";

afterEach(cleanUp);

const HOUR = 3_600;
const NOW = Math.floor(Date.now() / 1000);
const OLD = NOW - 3 * HOUR;
const CONTENT = {
  type: "job.succeeded",
  data: { jobId: "jöb/1", status: "<done>", cost: [1, 2.5], note: null, "a b": {} },
};
const COMPACT = JSON.stringify(CONTENT);
/** What Python's json.dumps writes of `CONTENT`. */
const PYTHON =
  '{"type": "job.succeeded", "data": {"jobId": "j\\u00f6b/1", "status": "<done>", "cost": [1, 2.5], "note": null, "a b": {}}}';
const SORTED =
  '{"data":{"a b":{},"cost":[1,2.5],"jobId":"jöb/1","note":null,"status":"<done>"},"type":"job.succeeded"}';

interface Capture {
  readonly signed?: string | Uint8Array;
  /** Default: what was signed. */
  readonly body?: string | Uint8Array;
  readonly secret?: string;
  readonly timestamp?: number;
  /** Returns the captured headers of a signed delivery. */
  readonly headers?: (headers: Readonly<Record<string, string>>, body: string | Uint8Array) => string;
}

interface Verified extends Ended {
  readonly json: Readonly<Record<string, unknown>>;
}

const lines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join("");

/** Signs a delivery, captures it in files, and verifies these. */
async function verify(
  { signed = COMPACT, body = signed, secret = SECRET, timestamp = OLD, headers = lines }: Capture,
  args: readonly string[] = [],
  { env = { THE_SECRET: SECRET }, cwd }: StartOptions = {},
): Promise<Verified> {
  const sent = sign({ id: "msg_1", timestamp, body: signed, secret });
  const folder = makeFolder({ headers: headers(sent, signed), body });
  const source = args.some((arg) => /^--(secret-|stack)/.test(arg)) ? [] : ["--secret-env", "THE_SECRET"];
  const files = ["--headers", join(folder, "headers"), "--body", join(folder, "body")];
  const ended = await run(["verify", ...files, ...source, ...args], {
    env,
    ...(cwd === undefined ? {} : { cwd }),
  });
  return { ...ended, json: args.includes("--json") ? JSON.parse(ended.stdout) : {} };
}

test("verify exits with 0 for an old capture whose signature is right, and shows secret, time and age", async () => {
  const { status, stdout, stderr } = await verify({});
  expect(status).toBe(0);
  expect(stdout).toBe(
    `Verified: msg_1 was signed with the secret (fingerprint ${fingerprintOf([SECRET])}).\n` +
      `Sent: ${new Date(OLD * 1000).toISOString().replace(".000", "")}, 3 hours ago.\n`,
  );
  expect(stderr).toMatch(
    /^A receiver that gets it only now refuses it as too old: it accepts 5 minutes\. .*--at\.\n$/,
  );
});

test("verify --json prints which secret signed, and when", async () => {
  const { status, json } = await verify({ secret: OTHER_SECRET }, ["--json"], {
    env: { THE_SECRET: `# rotating\n${SECRET}\n\n${OTHER_SECRET}\n` },
  });
  expect([status, json]).toEqual([
    0,
    {
      verified: true,
      id: "msg_1",
      timestamp: OLD,
      ageSeconds: expect.any(Number),
      secret: { name: "secret 2 of 2", fingerprint: fingerprintOf([OTHER_SECRET]) },
    },
  ]);
});

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

test("verify says so when the file of headers holds no header", async () => {
  const { stdout } = await verify({ headers: () => "no header here\n" });
  expect(stdout).toContain("The file of headers holds no header.");
});

const at = (timestamp: number) => new Date(timestamp * 1000).toISOString();

test.each([
  ["in time", OLD + 299, [], 0, /^Verified/],
  [
    "late",
    OLD + 601,
    [],
    1,
    /timestamp-too-old\.\n.*was 10 minutes 1 second old when it was received\. The receiver accepts 5 minutes\./,
  ],
  [
    "early",
    OLD - 601,
    [],
    1,
    /timestamp-too-new\.\n.*was 10 minutes 1 second in the future when it was received\./,
  ],
  ["late, but within --tolerance", OLD + 601, ["--tolerance", "900"], 0, /^Verified/],
  ["late, with no window", OLD + 601, ["--tolerance", "0"], 0, /^Verified/],
])(
  "verify --at judges the clock of a delivery that came %s",
  async (_how, moment, args, expected, output) => {
    for (const form of [at(moment), String(moment)]) {
      const { status, stdout } = await verify({}, ["--at", form, ...args]);
      expect(stdout).toMatch(output);
      expect(status).toBe(expected);
    }
  },
);

const forms: Readonly<Record<string, (headers: Readonly<Record<string, string>>) => string>> = {
  "lines in upper case with CRLF": (headers) =>
    Object.entries(headers)
      .map(([name, value]) => `${name.toUpperCase()}:${value}\r\n`)
      .join(""),
  "a request with its first line and a body": (headers) =>
    `POST /jobs HTTP/1.1\nHost: example.com\n${lines(headers)}\n{"not":"a header"}\n`,
  "the output of curl -v": (headers) =>
    `* Connected\n> POST / HTTP/1.1\n${lines(headers).replace(/^/gm, "> ").replace(/> $/, "")}< HTTP/1.1 401 Unauthorized\n< webhook-id: other\n`,
  "an object that Node.js printed": (headers) =>
    `{\n${Object.entries(headers)
      .map(([name, value]) => `  '${name}': '${value}',`)
      .join("\n")}\n}\n`,
  "a JSON object": (headers) => JSON.stringify(headers),
  "a JSON object with lists": (headers) =>
    JSON.stringify(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))),
  "JSON pairs": (headers) => JSON.stringify(Object.entries(headers)),
  "the headers of an HAR file": (headers) =>
    JSON.stringify(Object.entries(headers).map(([name, value]) => ({ name, value }))),
};

test.each(Object.entries(forms))("verify reads headers as %s", async (_form, headers) => {
  expect(await verify({ headers })).toMatchObject({ status: 0 });
});

test("verify reads a delivery from one file, or from standard input", async () => {
  const headers = sign({ id: "msg_1", timestamp: OLD, body: COMPACT, secret: SECRET });
  const capture = JSON.stringify({ headers, body: COMPACT });
  const folder = makeFolder({ capture, headers: lines(headers), body: COMPACT });
  const env = { THE_SECRET: SECRET };
  const source = ["--secret-env", "THE_SECRET"];
  const piped = async (args: readonly string[], input: string) => {
    const started = start(["verify", ...args, ...source], { env });
    started.child.stdin?.end(input);
    return (await started.ended).status;
  };
  expect(await piped(["--capture", join(folder, "capture")], "")).toBe(0);
  expect(await piped(["--capture", "-"], capture)).toBe(0);
  expect(await piped(["--headers", "-", "--body", join(folder, "body")], lines(headers))).toBe(0);
  expect(await piped(["--headers", join(folder, "headers"), "--body", "-"], COMPACT)).toBe(0);
});

test("verify --id chooses one of several deliveries", async () => {
  const signed = (id: string, secret: string) => ({
    request: { headers: sign({ id, timestamp: OLD, body: COMPACT, secret }), body: COMPACT },
  });
  const capture = JSON.stringify([signed("msg_1", OTHER_SECRET), signed("msg_2", SECRET)]);
  const args = [
    "verify",
    "--capture",
    join(makeFolder({ capture }), "capture"),
    "--secret-env",
    "THE_SECRET",
  ];
  const options = { env: { THE_SECRET: SECRET } };
  expect((await run(args, options)).stderr).toMatch(
    /^error: the file has 2 deliveries: choose one with --id, such as msg_1, msg_2 \(WRONG_USE\)\n$/,
  );
  expect((await run([...args, "--id", "msg_2"], options)).status).toBe(0);
  expect((await run([...args, "--id", "msg_3"], options)).stderr).toContain("none has the id of --id");
});

test("verify and send take the newest of several deliveries with one id, and say how many there are", async () => {
  const signed = (timestamp: number, body: string) => ({
    headers: sign({ id: "msg_1", timestamp, body: COMPACT, secret: SECRET }),
    body,
  });
  const capture = JSON.stringify([signed(OLD, "{}"), signed(OLD + 60, COMPACT)]);
  const path = join(makeFolder({ capture }), "capture");
  const env = { THE_SECRET: SECRET };
  const verified = await run(["verify", "--capture", path, "--secret-env", "THE_SECRET"], { env });
  expect([verified.status, verified.stdout]).toEqual([0, expect.stringContaining("Verified: msg_1")]);
  const { url, received } = await receiver();
  const sent = await run(["send", "--capture", path, "--to", url]);
  expect(received.map(({ body }) => body)).toEqual([COMPACT]);
  for (const { stderr } of [verified, sent])
    expect(stderr).toContain(
      "The file has 2 deliveries with the same id. This is about the newest of them.\n",
    );
});

test("verify checks the clock of a capture that says when it arrived", async () => {
  const headers = sign({ id: "msg_1", timestamp: OLD, body: COMPACT, secret: SECRET });
  const capture = JSON.stringify({ receivedAt: at(OLD + HOUR), headers, body: COMPACT });
  const { stdout } = await run(
    ["verify", "--capture", join(makeFolder({ capture }), "capture"), "--secret-env", "THE_SECRET"],
    { env: { THE_SECRET: SECRET } },
  );
  expect(stdout).toMatch(/^Not verified: timestamp-too-old\./);
});

test("Ctrl-C ends verify at once while it searches megabytes", async () => {
  const body = JSON.stringify(Array.from({ length: 60_000 }, (_, id) => ({ id, name: "jöb/1", cost: 1.5 })));
  const headers = lines(sign({ id: "msg_1", timestamp: OLD, body: "other", secret: SECRET }));
  const folder = makeFolder({ headers, body });
  const files = ["--headers", join(folder, "headers"), "--body", join(folder, "body")];
  const started = start(["verify", ...files, "--secret-env", "THE_SECRET", "--search", "60"], {
    env: { THE_SECRET: SECRET },
  });
  // It has read the files by then, and the search takes far longer.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(started.child.exitCode).toBeNull();
  const { status, stderr } = await started.signal("SIGINT");
  expect([status, stderr]).toEqual([130, "error: Ctrl-C ended the command (INTERRUPTED)\n"]);
});

describe("with a stack", () => {
  const config = (secrets: readonly string[], toleranceSeconds = 300) => ({
    version: 1,
    secrets,
    toleranceSeconds,
    endpoints: {},
  });
  const outputs = {
    receiver: config([SECRET], 900),
    staging: config([SECRET, OTHER_SECRET]),
    jobsId: "wh_1",
  };

  test("verify takes the secret and the tolerance from the receiver of the stack in this folder", async () => {
    const { status } = await verify({}, ["--stack", "dev", "--at", at(OLD + 601)], stackFolder({ outputs }));
    expect(status).toBe(0);
  });

  test("verify finds that the secret of another receiver of the stack signed", async () => {
    const { status, json } = await verify(
      { secret: OTHER_SECRET },
      ["--stack", "dev", "--json"],
      stackFolder({ outputs }),
    );
    expect(json).toMatchObject({
      reason: "other-secret",
      secret: { name: "secret 2 of 2 of the output staging", fingerprint: fingerprintOf([OTHER_SECRET]) },
    });
    expect(status).toBe(1);
  });

  test("verify compares a secret from the environment with those of the stack that is named", async () => {
    const folder = stackFolder({ outputs: { receiver: config([OTHER_SECRET]) } });
    const options = { ...folder, env: { ...folder.env, THE_SECRET: SECRET } };
    const { json } = await verify(
      { secret: OTHER_SECRET },
      ["--secret-env", "THE_SECRET", "--stack", "dev", "--json"],
      options,
    );
    expect(json).toMatchObject({
      reason: "other-secret",
      secret: { name: "the secret of the output receiver" },
    });
  });
});
