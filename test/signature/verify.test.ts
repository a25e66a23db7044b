import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import type { HeadersLike } from "../../src/signature";
import { createVerifier, sign, verify, verifyDetailed, WebhookSecretError } from "../../src/signature";
import { knownAnswer, knownHeaders, newSecret, signatureOver, wrongSignatures } from "./support";

const { secret, body, id, timestamp, signature } = knownAnswer;
const now = () => Math.floor(Date.now() / 1000);

function reasonFor(
  headers: HeadersLike,
  options: { body?: unknown; secret?: string | string[]; tolerance?: number } = {},
) {
  const given = ("body" in options ? options.body : body) as string;
  const result = verifyDetailed(given, headers, options.secret ?? secret, options.tolerance ?? 0);
  return result.ok ? "ok" : result.reason;
}

test("sign and verify agree with the known answer of the specification", () => {
  expect(sign({ id, timestamp, body, secret })).toEqual(knownHeaders);
  expect(verify(body, knownHeaders, secret, 0)).toBe(true);
  expect(verifyDetailed(body, knownHeaders, secret, 0)).toEqual({ ok: true, id, timestamp });
});

test("verify and createVerifier().verify return true or false, never an object that passes every if", () => {
  const verifier = createVerifier({ secrets: secret, toleranceSeconds: 0 });
  expect(verifier.verify(body, knownHeaders)).toBe(true);
  expect(verifier.verify(`${body} `, knownHeaders)).toBe(false);
  expect(verifier.verify(body, {})).toBe(false);
  expect(verifier.verifyDetailed(body, knownHeaders)).toEqual({ ok: true, id, timestamp });
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
  for (const form of [bytes, bytes.buffer, Buffer.from(bytes), inside, dataView, body]) {
    expect(verify(form, knownHeaders, secret, 0)).toBe(true);
  }
});

test("verify accepts keys longer and shorter than a block of the hash, and bodies of any length", () => {
  const prefix = `${id}.${timestamp}.`;
  for (const keyLength of [1, 63, 64, 65, 100]) {
    const secret = newSecret(keyLength);
    for (const length of [0, 1, 100_000]) {
      const body = "x".repeat(length);
      const headers = { ...knownHeaders, "webhook-signature": signatureOver(secret, prefix + body) };
      for (const form of [body, Buffer.from(body)]) expect(verify(form, headers, secret, 0)).toBe(true);
      expect(verify(Buffer.from(`${body}x`), headers, secret, 0)).toBe(false);
    }
  }
});

test("verify finds the headers in every form and case", () => {
  const pairs = Object.entries(knownHeaders);
  const forms: HeadersLike[] = [
    knownHeaders,
    Object.fromEntries(pairs.map(([name, value]) => [name.toUpperCase(), value])),
    Object.fromEntries(pairs.map(([name, value]) => [name.replace("webhook", "Webhook"), [value]])),
    new Headers(pairs as [string, string][]),
    new Map(pairs),
    pairs,
    [["webhook-id", undefined], ...pairs, ["webhook-signature", undefined]],
  ];
  for (const headers of forms) expect(reasonFor(headers)).toBe("ok");
});

describe("next to standardwebhooks, a second implementation", () => {
  const message = fc.record({
    id: fc.stringMatching(/^[A-Za-z0-9_:/-]{1,40}$/),
    body: fc.oneof(fc.json(), fc.string({ unit: "grapheme" }), fc.constant("x".repeat(9000))),
    key: fc.uint8Array({ minLength: 1, maxLength: 100 }),
    age: fc.integer({ min: -200, max: 200 }),
  });

  test("each implementation accepts the signatures of the other", () => {
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
});

describe("the timestamp window", () => {
  const sentAt = (age: number) => sign({ id, timestamp: now() - age, body, secret });

  test("the timestamp window is 300 seconds by default, on both sides of now", () => {
    for (const age of [0, 290, -290]) expect(verify(body, sentAt(age), secret)).toBe(true);
    for (const age of [310, -310]) expect(verify(body, sentAt(age), secret)).toBe(false);
  });

  test("the timestamp window includes its ends", () => {
    const at = (seconds: number) =>
      createVerifier({ secrets: secret, now: () => (timestamp + seconds) * 1000 + 999 }).verifyDetailed(
        body,
        knownHeaders,
      );
    expect(at(300)).toMatchObject({ ok: true });
    expect(at(-300)).toMatchObject({ ok: true });
    expect(at(301)).toEqual({ ok: false, reason: "timestamp-too-old" });
    expect(at(-301)).toEqual({ ok: false, reason: "timestamp-too-new" });
  });

  test("a tolerance of 0 turns the timestamp window off and nothing else", () => {
    expect(verify(body, sentAt(1e9), secret, 0)).toBe(true);
    expect(verify(`${body} `, sentAt(1e9), secret, 0)).toBe(false);
    expect(verify(body, { ...knownHeaders, "webhook-timestamp": "now" }, secret, 0)).toBe(false);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "300", null])(
    "a tolerance of %p is the program's mistake: RangeError",
    (tolerance) => {
      const wrong = tolerance as number;
      expect(() => verify(body, knownHeaders, secret, wrong)).toThrow(RangeError);
      expect(() => verifyDetailed(body, knownHeaders, secret, wrong)).toThrow(RangeError);
      expect(() => createVerifier({ secrets: secret, toleranceSeconds: wrong })).toThrow(RangeError);
    },
  );

  test("verify and createVerifier take every safe integer as tolerance", () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(verify(body, knownHeaders, secret, most)).toBe(true);
    expect(createVerifier({ secrets: secret, toleranceSeconds: most }).verify(body, knownHeaders)).toBe(true);
  });

  test("a secret in the place of the tolerance does not appear in the error", () => {
    const error = thrownBy(() => verify(body, knownHeaders, "300", secret as unknown as number));
    expect(error).toBeInstanceOf(RangeError);
    expect(String(error)).not.toContain(secret.slice(6));
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined, null, "1614265330000", {}, 1614265330000n])(
    "no delivery is accepted while the clock returns %p",
    (time) => {
      const now = () => time as number;
      const verifier = createVerifier({ secrets: secret, now });
      expect(verifier.verifyDetailed(body, knownHeaders)).toEqual({ ok: false, reason: "invalid-clock" });
      // Without a timestamp window, no clock is needed.
      expect(createVerifier({ secrets: secret, toleranceSeconds: 0, now }).verify(body, knownHeaders)).toBe(
        true,
      );
    },
  );
});

describe("the form of the headers", () => {
  const with_ = (change: Record<string, unknown>) => ({ ...knownHeaders, ...change }) as HeadersLike;
  /** Signed over exactly these strings, so that only their form can be the reason. */
  const signed = (id: string, timestamp: string) =>
    ({
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": signatureOver(secret, `${id}.${timestamp}.${body}`),
    }) as HeadersLike;

  test.each([
    "+1614265330",
    "-1614265330",
    "01614265330",
    "1614265330.0",
    "1.614265330e9",
    "0x6037bdf2",
    " 1614265330",
    "1614265330 ",
    "٣",
    "9007199254740993",
    "1614265330\n",
  ])("the timestamp %p is refused as malformed", (timestamp) => {
    expect(reasonFor(signed(id, timestamp))).toBe("malformed-timestamp");
  });

  test("every whole second from 0 to the largest safe integer is accepted", () => {
    for (const timestamp of ["0", "1", "1614265330", "9007199254740991"])
      expect(reasonFor(signed(id, timestamp))).toBe("ok");
  });

  test.each(["msg.1", "msg 1", "msg\n1", "msg\u00e9", "msg\u007f", "a,b.c", "\ud800", "."])(
    "the id %p is refused as malformed",
    (id) => {
      expect(reasonFor(signed(id, "1614265330"))).toBe("malformed-id");
    },
  );

  test.each([
    ["base64url", signature.replace("+", "-").replace("/", "_"), "signature-mismatch"],
    ["base64 without padding", signature.slice(0, -1), "malformed-signature"],
    ["base64 whose unused bits are not zero", signature.replace("1OE=", "1OF="), "signature-mismatch"],
    ["base64 with a space in it", signature.replace("E=", "E ="), "malformed-signature"],
    ["base64 with more padding", `${signature}=`, "malformed-signature"],
    ["another value after a comma", `${signature},x`, "duplicate-signature"],
    ["a tab before the entry", `v1,x\t${signature}`, "malformed-signature"],
    ["another version", signature.replace("v1,", "v1a,"), "no-v1-signature"],
    ["an upper-case version", signature.replace("v1,", "V1,"), "no-v1-signature"],
    ["no version", signature.replace("v1,", ""), "no-v1-signature"],
    ["spaces", "   ", "no-v1-signature"],
  ])("a signature header of %s is refused", (_what, value, reason) => {
    expect(reasonFor(with_({ "webhook-signature": value }))).toBe(reason);
    expect(reasonFor(with_({ "webhook-signature": `v1,${"A".repeat(44)} ${value}` }))).not.toBe("ok");
  });

  test("a signature with a character outside ASCII is refused, also right after the genuine one", () => {
    for (const entry of [signature, `v2,x ${signature}`]) {
      for (let at = entry.length - 47; at < entry.length; at++) {
        for (const beyond of [0x100, 0x2000]) {
          const character = String.fromCharCode(entry.charCodeAt(at) + beyond);
          const header = entry.slice(0, at) + character + entry.slice(at + 1);
          expect(reasonFor(knownHeaders)).toBe("ok");
          expect(reasonFor(with_({ "webhook-signature": header }))).not.toBe("ok");
        }
      }
    }
  });

  test("a header that was sent twice is refused, and so is one that is missing", () => {
    const names = {
      id: "webhook-id",
      timestamp: "webhook-timestamp",
      signature: "webhook-signature",
    } as const;
    for (const [part, name] of Object.entries(names)) {
      const value = knownHeaders[name];
      const twice = [
        with_({ [name]: [value, value] }),
        with_({ [name.toUpperCase()]: value }),
        [...Object.entries(knownHeaders), [name, value]] as HeadersLike,
      ];
      for (const headers of twice) expect(reasonFor(headers)).toBe(`duplicate-${part}`);
      for (const nothing of [undefined, [], "", 7, null])
        expect(reasonFor(with_({ [name]: nothing }))).toBe(`missing-${part}`);
    }
  });

  test("a header that was sent twice and joined by a comma is refused as duplicate", () => {
    for (const [part, name] of [
      ["id", "webhook-id"],
      ["timestamp", "webhook-timestamp"],
    ] as const)
      expect(reasonFor(with_({ [name]: `${knownHeaders[name]}, ${knownHeaders[name]}` }))).toBe(
        `duplicate-${part}`,
      );
    for (const joined of [`${signature}, ${wrongSignatures(1)}`, `${signature},${wrongSignatures(1)}`])
      expect(reasonFor(with_({ "webhook-signature": joined }))).toBe("duplicate-signature");
    // By a comma alone, as an id may contain one.
    expect(reasonFor(with_({ "webhook-id": `${id},${id}` }))).toBe("signature-mismatch");
  });
});

describe("a signature header with several entries", () => {
  const with_ = (value: string) => ({ ...knownHeaders, "webhook-signature": value }) as HeadersLike;

  test("a matching v1 entry is accepted wherever it stands among other entries", () => {
    for (const before of ["", `${wrongSignatures(1)} `, `${wrongSignatures(31)} `, "v1a,x ", "v2,yy v1,z "]) {
      for (const after of ["", " v1a,x", " v2,yy v1,z"])
        expect(reasonFor(with_(before + signature + after))).toBe("ok");
    }
  });

  test.each([
    "  *",
    "*  ",
    "v1a,x   *",
    "x *",
    "* x",
    "* v1",
    "* v1,",
    ", *",
    "* v1a,x,y",
    "v1,\u0100 *",
    "* \u0000\u007f",
    "v1,x\tv1,y *",
    "v1,x, *",
    "*  v1,short v1,%",
  ])("a matching v1 entry is accepted whatever else is in the header: %j", (around) => {
    const header = around.replace("*", signature);
    expect(reasonFor(with_(header))).toBe("ok");
    // As the reference does.
    jest.useFakeTimers({ now: timestamp * 1000 });
    try {
      new Webhook(secret).verify(body, { ...knownHeaders, "webhook-signature": header });
    } finally {
      jest.useRealTimers();
    }
  });

  test("up to 32 v1 entries are compared, and more are refused with a reason of their own", () => {
    expect(reasonFor(with_(`${wrongSignatures(31)} ${signature}`))).toBe("ok");
    expect(reasonFor(with_(wrongSignatures(32)))).toBe("signature-mismatch");
    for (const header of [
      `${wrongSignatures(32)} ${signature}`,
      `${signature} ${wrongSignatures(32)}`,
      wrongSignatures(33),
    ])
      expect(reasonFor(with_(header))).toBe("too-many-signatures");
  });

  test("an entry that matches only in its beginning is refused", () => {
    expect(reasonFor(with_(`v2,x ${signature.slice(0, 30)}${"A".repeat(16)}=`))).toBe("signature-mismatch");
    expect(reasonFor(with_(signature.slice(0, 30)))).toBe("malformed-signature");
  });
});

describe("secrets", () => {
  const malformed: [string, unknown][] = [
    ["another prefix", "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["another prefix of that length", "whsek_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["no prefix", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["nothing after the prefix", "whsec_"],
    ["a line end", `${secret}\n`],
    ["a mask", "whsec_****************"],
    ["base64url", "whsec_-_-_"],
    ["no padding", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS"],
    ["nothing", ""],
    ["an empty list", []],
    ["a list with a hole", Object.assign(new Array(2), { 1: secret })],
    ["another type", 7],
    ["undefined", undefined],
  ];

  test.each(malformed)(
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

  test("any of several secrets may match, while one is rotated", () => {
    const others = [newSecret(), newSecret(64), newSecret(65)];
    expect(verify(body, knownHeaders, [...others, secret], 0)).toBe(true);
    expect(verify(body, knownHeaders, others, 0)).toBe(false);
    expect(verify(body, knownHeaders, [secret, "whsec_"], 0)).toBe(false);
  });
});

test("a body that a framework parsed is refused with a reason of its own", () => {
  for (const parsed of [JSON.parse(body), undefined, null, 7, [1, 2]]) {
    expect(reasonFor(knownHeaders, { body: parsed })).toBe("body-not-raw");
  }
});

test("sign refuses ids, timestamps and bodies that no receiver accepts", () => {
  expect(() => sign({ id: "a.b", timestamp, body, secret })).toThrow(TypeError);
  expect(() => sign({ id: 7 as unknown as string, timestamp, body, secret })).toThrow(TypeError);
  expect(() => sign({ id: "", timestamp, body, secret })).toThrow(TypeError);
  expect(() => sign({ id, timestamp: 1.5, body, secret })).toThrow(RangeError);
  expect(() => sign({ id, timestamp, body: {} as string, secret })).toThrow(TypeError);
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
    fc.property(fc.anything(), headers, (body, headers) => {
      expect(verify(body as string, headers as HeadersLike, secret, 0)).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
