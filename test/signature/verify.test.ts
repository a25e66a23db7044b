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

test("the known answer of the specification is signed and verified", () => {
  expect(sign({ id, timestamp, body, secret })).toEqual(knownHeaders);
  expect(verify(body, knownHeaders, secret, 0)).toBe(true);
  expect(verifyDetailed(body, knownHeaders, secret, 0)).toEqual({ ok: true, id, timestamp });
});

test("a body is verified as bytes, as an ArrayBuffer, as a view, and as text", () => {
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

test("keys and bodies of each length around a block and around what is hashed at once are right", () => {
  const prefix = `${id}.${timestamp}.`;
  const full = 8192 - 64 - prefix.length;
  for (const keyLength of [1, 63, 64, 65, 100]) {
    const secret = newSecret(keyLength);
    for (const length of [0, 1, full - 1, full, full + 1, 100_000]) {
      const body = "x".repeat(length);
      const headers = { ...knownHeaders, "webhook-signature": signatureOver(secret, prefix + body) };
      for (const form of [body, Buffer.from(body)]) expect(verify(form, headers, secret, 0)).toBe(true);
      expect(verify(Buffer.from(`${body}x`), headers, secret, 0)).toBe(false);
    }
  }
});

test("headers are found in each form and case", () => {
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

describe("standardwebhooks, the second implementation,", () => {
  const message = fc.record({
    id: fc.stringMatching(/^[A-Za-z0-9_:/-]{1,40}$/),
    body: fc.oneof(fc.json(), fc.string({ unit: "grapheme" }), fc.constant("x".repeat(9000))),
    key: fc.uint8Array({ minLength: 1, maxLength: 100 }),
    age: fc.integer({ min: -200, max: 200 }),
  });

  test("accepts what we sign, and we what it signs", () => {
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

  test("is 300 seconds by default, on both sides of now", () => {
    for (const age of [0, 290, -290]) expect(verify(body, sentAt(age), secret)).toBe(true);
    for (const age of [310, -310]) expect(verify(body, sentAt(age), secret)).toBe(false);
  });

  test("includes its ends", () => {
    const at = (seconds: number) =>
      createVerifier({ secrets: secret, now: () => (timestamp + seconds) * 1000 + 999 }).verify(
        body,
        knownHeaders,
      );
    expect(at(300)).toMatchObject({ ok: true });
    expect(at(-300)).toMatchObject({ ok: true });
    expect(at(301)).toEqual({ ok: false, reason: "timestamp-too-old" });
    expect(at(-301)).toEqual({ ok: false, reason: "timestamp-too-new" });
  });

  test("is turned off by 0, which turns nothing else off", () => {
    expect(verify(body, sentAt(1e9), secret, 0)).toBe(true);
    expect(verify(`${body} `, sentAt(1e9), secret, 0)).toBe(false);
    expect(verify(body, { ...knownHeaders, "webhook-timestamp": "now" }, secret, 0)).toBe(false);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "300", null])(
    "of %p seconds is a mistake of the program: RangeError",
    (tolerance) => {
      const wrong = tolerance as number;
      expect(() => verify(body, knownHeaders, secret, wrong)).toThrow(RangeError);
      expect(() => verifyDetailed(body, knownHeaders, secret, wrong)).toThrow(RangeError);
      expect(() => createVerifier({ secrets: secret, toleranceSeconds: wrong })).toThrow(RangeError);
    },
  );
});

describe("only canonical forms are accepted:", () => {
  const with_ = (change: Record<string, unknown>) => ({ ...knownHeaders, ...change }) as HeadersLike;
  /** Signed over exactly these texts, so that nothing but their form can be the reason. */
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
  ])("not the timestamp %p", (timestamp) => {
    expect(reasonFor(signed(id, timestamp))).toBe("malformed-timestamp");
  });

  test("but each whole second from 0 on", () => {
    for (const timestamp of ["0", "1", "1614265330", "9007199254740991"])
      expect(reasonFor(signed(id, timestamp))).toBe("ok");
  });

  test.each(["msg.1", "msg 1", "msg\n1", "msg\u00e9", "msg\u007f", "a,b.c", "\ud800", "."])(
    "not the id %p",
    (id) => {
      expect(reasonFor(signed(id, "1614265330"))).toBe("malformed-id");
    },
  );

  test.each([
    ["base64url", signature.replace("+", "-").replace("/", "_"), "malformed-signature"],
    ["base64 without padding", signature.slice(0, -1), "malformed-signature"],
    ["unused bits that are not zero", signature.replace("1OE=", "1OF="), "malformed-signature"],
    ["a space before the padding", signature.replace("E=", "E ="), "malformed-signature"],
    ["other bytes after it", `${signature}=`, "malformed-signature"],
    ["a tab as separator", `v1,x\t${signature}`, "malformed-signature"],
    ["another scheme", signature.replace("v1,", "v1a,"), "no-v1-signature"],
    ["an upper-case scheme", signature.replace("v1,", "V1,"), "no-v1-signature"],
    ["no scheme", signature.replace("v1,", ""), "no-v1-signature"],
    ["spaces", "   ", "no-v1-signature"],
  ])("not a signature of %s", (_what, value, reason) => {
    expect(reasonFor(with_({ "webhook-signature": value }))).toBe(reason);
    expect(reasonFor(with_({ "webhook-signature": `v1,${"A".repeat(44)} ${value}` }))).not.toBe("ok");
  });

  test("not a character whose low byte alone is the right one", () => {
    for (const entry of [signature, `v2,x ${signature}`]) {
      for (let at = entry.length - 47; at < entry.length; at++) {
        const beyond = String.fromCharCode(entry.charCodeAt(at) + 0x100);
        expect(
          reasonFor(with_({ "webhook-signature": entry.slice(0, at) + beyond + entry.slice(at + 1) })),
        ).not.toBe("ok");
      }
    }
  });

  test("not a name that only looks the same", () => {
    const { "webhook-id": _, ...rest } = knownHeaders;
    expect(reasonFor({ ...rest, "webhoo\u212a-id": id })).toBe("missing-id");
  });

  test("each header once", () => {
    const names = {
      id: "webhook-id",
      timestamp: "webhook-timestamp",
      signature: "webhook-signature",
    } as const;
    for (const [part, name] of Object.entries(names)) {
      const value = knownHeaders[name];
      const twice = [
        with_({ [name]: [value, value] }),
        with_({ [name]: `${value}, ${value}` }),
        with_({ [name.toUpperCase()]: value }),
        [...Object.entries(knownHeaders), [name, value]] as HeadersLike,
      ];
      for (const headers of twice) expect(reasonFor(headers)).toBe(`duplicate-${part}`);
      expect(reasonFor(with_({ [name]: undefined }))).toBe(`missing-${part}`);
      expect(reasonFor(with_({ [name]: [] }))).toBe(`missing-${part}`);
      expect(reasonFor(with_({ [name]: "" }))).toBe(`missing-${part}`);
      expect(reasonFor(with_({ [name]: 7 }))).toBe(`missing-${part}`);
    }
    // By a comma alone, as an id may hold one.
    expect(reasonFor(with_({ "webhook-id": `${id},${id}` }))).toBe("signature-mismatch");
    const joined = `v1,x v1,${"A".repeat(43)}=, ${signature}`;
    expect(reasonFor(with_({ "webhook-signature": joined }))).toBe("duplicate-signature");
    expect(reasonFor(with_({ "webhook-signature": `${signature} v1,x, v1,y` }))).toBe("duplicate-signature");
  });
});

describe("several signatures in one header:", () => {
  const with_ = (value: string) => ({ ...knownHeaders, "webhook-signature": value }) as HeadersLike;

  test("any may match, wherever it stands, of whatever schemes the others are", () => {
    for (const before of [
      "",
      `${wrongSignatures(1)} `,
      `${wrongSignatures(1000)} `,
      "v1a,x ",
      "v2,yy v1,z ",
    ]) {
      for (const after of ["", ` ${wrongSignatures(1)}`, ` ${wrongSignatures(1000)}`, " v1a,x"]) {
        expect(reasonFor(with_(before + signature + after))).toBe("ok");
      }
    }
  });

  test("what stands beside the one that matches must be entries, too, with one space between", () => {
    for (const around of [
      " *",
      "* ",
      "v1a,x  *",
      "x *",
      "* x",
      "*\tv1a,x",
      "v1a,x,y *",
      "* v1,",
      "v1a,\u0100 *",
    ]) {
      expect(reasonFor(with_(around.replace("*", signature)))).toBe("malformed-signature");
    }
  });

  test("a thousand wrong ones are refused", () => {
    expect(reasonFor(with_(wrongSignatures(1000)))).toBe("signature-mismatch");
    expect(reasonFor(with_(signature.slice(0, 30).padEnd(47, "A")))).toBe("malformed-signature");
    expect(reasonFor(with_(`v2,x ${signature.slice(0, 30)}${"A".repeat(16)}=`))).toBe("signature-mismatch");
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
    ["none", []],
    ["one that is no text", 7],
    ["undefined", undefined],
  ];

  test.each(malformed)(
    "with %s: verify answers false, what runs at start-up throws, and neither repeats it",
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

  test("any of several may match, while one is rotated", () => {
    const others = [newSecret(), newSecret(64), newSecret(65)];
    expect(verify(body, knownHeaders, [...others, secret], 0)).toBe(true);
    expect(verify(body, knownHeaders, others, 0)).toBe(false);
    expect(verify(body, knownHeaders, [secret, "whsec_"], 0)).toBe(false);
  });
});

test("what a framework parsed is refused with a reason of its own, whatever it is", () => {
  for (const parsed of [JSON.parse(body), undefined, null, 7, [1, 2]]) {
    expect(reasonFor(knownHeaders, { body: parsed })).toBe("body-not-raw");
  }
});

test("sign refuses what no receiver would accept", () => {
  expect(() => sign({ id: "a.b", timestamp, body, secret })).toThrow(TypeError);
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
