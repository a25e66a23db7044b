import type { HeadersLike } from "../../src/signature";
import { claimedId, readSignatureHeaders } from "../../src/signature/headers";
import { knownAnswer, knownHeaders, reasonFor, signatureOver, wrongSignatures } from "./support";

const { secret, body, id, signature } = knownAnswer;

const changed = (change: Record<string, unknown>) => ({ ...knownHeaders, ...change }) as HeadersLike;

test("verify finds the headers in every form and case", () => {
  const pairs = Object.entries(knownHeaders);
  const forms: HeadersLike[] = [
    Object.fromEntries(pairs.map(([name, value]) => [name.toUpperCase(), value])),
    Object.fromEntries(pairs.map(([name, value]) => [name.replace("webhook", "Webhook"), [value]])),
    new Headers(pairs as [string, string][]),
    new Map(pairs),
    pairs,
    [["webhook-id", undefined], ...pairs],
    [[7, "of no name"], ...pairs] as unknown as HeadersLike,
  ];
  for (const headers of forms) expect(reasonFor(headers)).toBe("ok");
});

/** Signs exactly these strings, so that only their form can be the reason. */
const reasonForSigned = (id: string, timestamp: string) =>
  reasonFor({
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatureOver(secret, `${id}.${timestamp}.${body}`),
  });

test.each([
  "+1614265330",
  "-1",
  "01614265330",
  "1.0",
  "1e9",
  "0x60",
  " 1",
  "1 ",
  "٣",
  "9007199254740993",
  "1\n",
])("a timestamp %p is refused as malformed, although its signature matches", (timestamp) => {
  expect(reasonForSigned(id, timestamp)).toBe("malformed-timestamp");
});

test.each(["0", "1", "9007199254740991"])("a timestamp %p is canonical", (timestamp) => {
  expect(reasonForSigned(id, timestamp)).toBe("ok");
});

test.each(["msg.1", "msg 1", "msg\n1", "msg\u00e9", "msg\u007f", "\ud800", "."])(
  "an id %p is refused as malformed, although its signature matches",
  (id) => {
    expect(reasonForSigned(id, "1614265330")).toBe("malformed-id");
  },
);

test.each([
  ["base64url", signature.replace("+", "-").replace("/", "_"), "signature-mismatch"],
  ["base64 without padding", signature.slice(0, -1), "malformed-signature"],
  ["base64 whose unused bits are not zero", signature.replace("1OE=", "1OF="), "signature-mismatch"],
  ["more padding", `${signature}=`, "malformed-signature"],
  ["another value after a comma", `${signature},x`, "malformed-signature"],
  ["a tab before the entry", `v1,x\t${signature}`, "malformed-signature"],
  ["another version", signature.replace("v1,", "v1a,"), "malformed-signature"],
  ["an upper-case version", signature.replace("v1,", "V1,"), "malformed-signature"],
  ["spaces", "   ", "malformed-signature"],
  ["several entries in the length of one", `v2,x v1,${"A".repeat(39)}`, "malformed-signature"],
])("a signature header of %s is refused", (_what, value, reason) => {
  expect(reasonFor(changed({ "webhook-signature": value }))).toBe(reason);
});

test("a signature with a character outside ASCII is refused, whose low byte is the right one", () => {
  for (let at = 0; at < signature.length; at++) {
    const character = String.fromCharCode(signature.charCodeAt(at) + 0x100);
    const header = signature.slice(0, at) + character + signature.slice(at + 1);
    expect(reasonFor(changed({ "webhook-signature": header }))).not.toBe("ok");
  }
});

test.each([
  ["id", "webhook-id"],
  ["timestamp", "webhook-timestamp"],
] as const)(
  "a webhook-%s that was sent twice is malformed, and one without a value is missing",
  (part, name) => {
    const value = knownHeaders[name];
    const twice = [
      changed({ [name]: [value, value] }),
      changed({ [name.toUpperCase()]: value }),
      [...Object.entries(knownHeaders), [name, value]] as HeadersLike,
    ];
    for (const headers of twice) expect(reasonFor(headers)).toBe(`malformed-${part}`);
    for (const nothing of [undefined, [], "", 7, null, [null]])
      expect(reasonFor(changed({ [name]: nothing }))).toBe("missing-header");
  },
);

test("a webhook-signature that was sent twice is judged alike, whether the platform joins it or not", () => {
  const name = "webhook-signature";
  const wrong = wrongSignatures(1);
  const pairs = (...values: string[]) =>
    [
      ...Object.entries(changed({ [name]: undefined })),
      ...values.map((value) => [name, value]),
    ] as HeadersLike;
  for (const [first, second, reason] of [
    [signature, signature, "ok"],
    [wrong, signature, "ok"],
    [wrong, wrong, "signature-mismatch"],
    // The reference takes the comma for a part of the first signature, too.
    [signature, wrong, "signature-mismatch"],
  ] as const)
    for (const headers of [
      pairs(first, second),
      changed({ [name]: [first, second] }),
      changed({ [name]: `${first}, ${second}` }),
      new Headers(pairs(first, second) as [string, string][]),
    ])
      expect(reasonFor(headers)).toBe(reason);
  for (const nothing of [undefined, [], "", 7, null, [null]])
    expect(reasonFor(changed({ [name]: nothing }))).toBe("missing-header");
});

test("the body is hashed once for each key, and not at all without an entry that can match", () => {
  const crypto = jest.requireActual<typeof import("node:crypto")>("node:crypto");
  const createHmac = jest.spyOn(crypto, "createHmac");
  const hashesFor = (header: string) => {
    createHmac.mockClear();
    reasonFor(changed({ "webhook-signature": header }));
    return createHmac.mock.calls.length;
  };
  expect(hashesFor(wrongSignatures(100))).toBe(1);
  expect(hashesFor(signature)).toBe(1);
  expect(hashesFor("v2,x v1,short")).toBe(0);
  createHmac.mockRestore();
});

test("a request claims an id if its three headers are well-formed", () => {
  const claiming = (id: string) => claimedId(readSignatureHeaders({ ...knownHeaders, "webhook-id": id }));
  expect(claiming(id)).toBe(id);
  expect(claiming("a.b")).toBeUndefined();
  expect(claimedId(readSignatureHeaders({ "webhook-id": id }))).toBeUndefined();
});
