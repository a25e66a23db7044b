import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import type { HeadersLike } from "../../src/signature";
import { createVerifier, sign, verify, verifyDetailed, WebhookSecretError } from "../../src/signature";
import { knownAnswer, knownHeaders, newSecret, reasonFor, thrownBy } from "./support";

const { secret, body, id, timestamp } = knownAnswer;
const now = () => Math.floor(Date.now() / 1000);

test("sign and verify agree with the known answer of the specification", () => {
  expect(sign({ id, timestamp, body, secret })).toEqual(knownHeaders);
  expect(verify(body, knownHeaders, secret, 0)).toBe(true);
  expect(verifyDetailed(body, knownHeaders, secret, 0)).toEqual({ ok: true, id, timestamp });
  const verifier = createVerifier({ secrets: secret, toleranceSeconds: 0 });
  expect(verifier.verify(body, knownHeaders)).toBe(true);
  expect(verifier.verify(`${body} `, knownHeaders)).toBe(false);
  expect(verifier.verifyDetailed(`${body} `, knownHeaders)).toEqual({
    ok: false,
    reason: "signature-mismatch",
  });
});

test("verify accepts a body as bytes, as an ArrayBuffer, as a view, and as a string", () => {
  const bytes = new TextEncoder().encode(body);
  const inside = Buffer.concat([Buffer.from("before"), bytes, Buffer.from("after")]).subarray(
    6,
    6 + bytes.length,
  );
  const dataView = new DataView(bytes.buffer) as unknown as Uint8Array;
  for (const form of [bytes, bytes.buffer, Buffer.from(bytes), inside, dataView, body])
    expect(verify(form, knownHeaders, secret, 0)).toBe(true);
});

test("this package and standardwebhooks, a second implementation, accept each other's signatures", () => {
  const message = fc.record({
    id: fc.stringMatching(/^[A-Za-z0-9_:/-]{1,40}$/),
    body: fc.oneof(fc.json(), fc.string({ unit: "grapheme" }), fc.constant("x".repeat(9000))),
    key: fc.uint8Array({ minLength: 1, maxLength: 100 }),
    age: fc.integer({ min: -200, max: 200 }),
  });
  fc.assert(
    fc.property(message, ({ id, body, key, age }) => {
      const secret = `whsec_${Buffer.from(key).toString("base64")}`;
      const sent = now() + age;
      const other = new Webhook(secret);
      const ours = sign({ id, timestamp: sent, body, secret });
      other.verify(body, { ...ours }, { jsonParse: false });
      const theirs = { ...ours, "webhook-signature": other.sign(id, new Date(sent * 1000), body) };
      expect(theirs).toEqual(ours);
      expect(verify(body, theirs, secret)).toBe(true);
      expect(verify(Buffer.from(body), theirs, secret)).toBe(true);
    }),
  );
});

describe("the timestamp window", () => {
  const sentAt = (age: number) => sign({ id, timestamp: now() - age, body, secret });

  test("the timestamp window is 300 seconds by default, on both sides of now", () => {
    for (const age of [0, 290, -290]) expect(verify(body, sentAt(age), secret)).toBe(true);
    for (const age of [310, -310]) expect(verify(body, sentAt(age), secret)).toBe(false);
  });

  test.each([
    [300, "ok"],
    [-300, "ok"],
    [301, "timestamp-too-old"],
    [-301, "timestamp-too-new"],
  ])("a delivery that is %d seconds old has the result %s", (age, expected) => {
    const verifier = createVerifier({ secrets: secret, now: () => (timestamp + age) * 1000 + 999 });
    const result = verifier.verifyDetailed(body, knownHeaders);
    expect(result.ok ? "ok" : result.reason).toBe(expected);
  });

  test("a tolerance of 0 turns the timestamp window off and nothing else", () => {
    expect(verify(body, sentAt(1e9), secret, 0)).toBe(true);
    expect(verify(`${body} `, sentAt(1e9), secret, 0)).toBe(false);
    expect(verify(body, { ...knownHeaders, "webhook-timestamp": "now" }, secret, 0)).toBe(false);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "300", null])(
    "a tolerance of %p is the program's mistake: RangeError",
    (tolerance) => {
      const wrong = tolerance as number;
      expect(() => verify(body, knownHeaders, secret, wrong)).toThrow(RangeError);
      expect(() => verifyDetailed(body, knownHeaders, secret, wrong)).toThrow(/not milliseconds, from 0/);
      expect(() => createVerifier({ secrets: secret, toleranceSeconds: wrong })).toThrow(RangeError);
    },
  );

  test("a secret in the place of the tolerance does not appear in the error", () => {
    const error = thrownBy(() => verify(body, knownHeaders, "300", secret as unknown as number));
    expect(error).toBeInstanceOf(RangeError);
    expect(String(error)).not.toContain(secret.slice(6));
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined, null, "1614265330000", 1614265330000n])(
    "no delivery is accepted while the clock returns %p, unless there is no window",
    (time) => {
      const now = () => time as number;
      const verifier = createVerifier({ secrets: secret, now });
      expect(verifier.verifyDetailed(body, knownHeaders)).toEqual({ ok: false, reason: "invalid-clock" });
      const windowless = createVerifier({ secrets: secret, toleranceSeconds: 0, now });
      expect(windowless.verify(body, knownHeaders)).toBe(true);
    },
  );
});

describe("secrets", () => {
  test.each<[string, unknown]>([
    ["another prefix", "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["no prefix", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["nothing after the prefix", "whsec_"],
    ["a line end", `${secret}\n`],
    ["a mask", "whsec_****************"],
    ["base64url", "whsec_-_-_"],
    ["unused bits that are not zero", "whsec_AB=="],
    ["no padding", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS"],
    ["nothing", ""],
    ["an empty list", []],
    ["a list with a hole", Object.assign(new Array(2), { 1: secret })],
    ["another type", 7],
    ["undefined", undefined],
  ])(
    "with a secret of %s, verify returns false, what runs at start-up throws, and neither repeats it",
    (_what, wrong) => {
      const given = wrong as string;
      expect(verify(body, knownHeaders, given, 0)).toBe(false);
      expect(verifyDetailed(body, knownHeaders, given, 0)).toEqual({ ok: false, reason: "malformed-secret" });
      for (const start of [
        () => createVerifier({ secrets: given }),
        () => sign({ id, timestamp, body, secret: given }),
      ]) {
        const error = thrownBy(start);
        expect(error).toBeInstanceOf(WebhookSecretError);
        expect(error).toMatchObject({ name: "WebhookSecretError", code: "SECRET_INVALID" });
        if (given?.length > 6)
          expect(`${error} ${JSON.stringify(error)}`).not.toContain(String(given).slice(6, 20));
      }
    },
  );

  test("any of several secrets may match, and a message signed with several matches each", () => {
    const others = [newSecret(), newSecret(64), newSecret(65)];
    expect(verify(body, knownHeaders, [...others, secret], 0)).toBe(true);
    expect(verify(body, knownHeaders, others, 0)).toBe(false);
    expect(verify(body, knownHeaders, [secret, "whsec_"], 0)).toBe(false);
    const signedWithAll = sign({ id, timestamp, body, secret: others });
    for (const each of others) expect(verify(body, signedWithAll, each, 0)).toBe(true);
    expect(verify(body, signedWithAll, secret, 0)).toBe(false);
  });
});

test("a body that a framework parsed is refused with a reason of its own", () => {
  for (const parsed of [JSON.parse(body), undefined, null, 7, [1, 2]])
    expect(reasonFor(knownHeaders, { body: parsed })).toBe("parsed-body");
});

test("sign needs only a body and a secret: each message has an id of its own and the present time", () => {
  const messages = [sign({ body, secret }), sign({ body, secret, id: undefined, timestamp: undefined })];
  for (const message of messages) {
    expect(verify(body, message, secret, 30)).toBe(true);
    expect(message["webhook-id"]).toMatch(/^msg_[0-9a-f]{24}$/);
  }
  expect(messages[0]?.["webhook-id"]).not.toBe(messages[1]?.["webhook-id"]);
});

test.each<[object, RegExp]>([
  [{ id: "a.b" }, /^TypeError: .*the id must be/],
  [{ timestamp: 1.5 }, /^RangeError: .*the timestamp must be/],
  [{ body: {} }, /^TypeError: .*the body must be/],
])("sign refuses %p, which no receiver accepts", (wrong, message) => {
  expect(String(thrownBy(() => sign({ id, timestamp, body, secret, ...wrong })))).toMatch(message);
});

test("verify never throws on any headers or body", () => {
  const anything = fc.oneof(fc.string(), fc.constant(undefined), fc.array(fc.string()), fc.constant(null));
  const name = fc.oneof(
    fc.constantFrom(...Object.keys(knownHeaders), "__proto__", "constructor"),
    fc.string(),
  );
  const headers = fc.oneof(
    fc.dictionary(name, anything),
    fc.array(fc.tuple(name, anything)),
    fc.array(fc.anything()),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.oneof(fc.constant(body), fc.anything()), headers, (body, headers) => {
      expect(verify(body as string, headers as HeadersLike, secret, 0)).toBe(false);
    }),
    { numRuns: 2000 },
  );
});
