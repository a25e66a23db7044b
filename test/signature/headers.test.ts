import { Webhook } from "standardwebhooks";
import type { HeadersLike } from "../../src/signature";
import { claimedId } from "../../src/signature/headers";
import { knownAnswer, knownHeaders, reasonFor, signatureOver, wrongSignatures } from "./support";

const { secret, body, id, timestamp, signature } = knownAnswer;

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
    [[7, "of no name"], ...pairs] as unknown as HeadersLike,
  ];
  for (const headers of forms) expect(reasonFor(headers)).toBe("ok");
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
      for (const nothing of [undefined, [], "", 7, null, [null]])
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

  test("entries of other versions are neither compared nor counted, and without one of v1 nothing is hashed", () => {
    const others = wrongSignatures(40).replaceAll("v1,", "v2,");
    expect(reasonFor(with_(`${others} ${signature}`))).toBe("ok");
    const createHmac = jest.spyOn(
      jest.requireActual<typeof import("node:crypto")>("node:crypto"),
      "createHmac",
    );
    try {
      expect(reasonFor(with_(others))).toBe("no-v1-signature");
      expect(reasonFor(with_("v1,short"))).toBe("malformed-signature");
      expect(createHmac).not.toHaveBeenCalled();
      expect(reasonFor(with_(signature))).toBe("ok");
      expect(createHmac).toHaveBeenCalledTimes(1);
    } finally {
      createHmac.mockRestore();
    }
  });

  test("a header of the length of one entry may still hold several", () => {
    expect(reasonFor(with_(`v2,x v1,${"A".repeat(39)}`))).toBe("malformed-signature");
  });

  test("an entry that matches only in its beginning is refused", () => {
    expect(reasonFor(with_(`v2,x ${signature.slice(0, 30)}${"A".repeat(16)}=`))).toBe("signature-mismatch");
    expect(reasonFor(with_(signature.slice(0, 30)))).toBe("malformed-signature");
  });
});

test("a request claims an id if its three headers are well-formed and the id is short enough for a log", () => {
  const claiming = (id: string) => claimedId({ ...knownHeaders, "webhook-id": id });
  expect(claiming(id)).toBe(id);
  expect(claiming("x".repeat(256))).toHaveLength(256);
  expect(claiming("x".repeat(257))).toBeUndefined();
  expect(claiming("a.b")).toBeUndefined();
  expect(claimedId({ "webhook-id": id })).toBeUndefined();
});
