import { diagnosisOf, TEXT } from "./diagnosing";

test("verify finds what was indented around a string of millions of escapes", () => {
  const value = { type: "job.succeeded", data: { log: '"\\'.repeat(1_750_000) } };
  const signed = JSON.stringify(value);
  const diagnosis = diagnosisOf({ signed, body: JSON.stringify(value, null, 2) });
  expect(diagnosis).toMatchObject({ reason: "body-reserialized" });
});

test("verify blames the secret for a batch of many records, after a search that ends by itself", () => {
  const data = (job: number) => Buffer.from(TEXT.replace("cost", `cost${job}`)).toString("base64");
  const Records = Array.from({ length: 100 }, (_, at) => ({
    eventSource: "aws:kinesis",
    eventID: `shardId-000:${at}`,
    kinesis: { partitionKey: "1", data: data(at) },
  }));
  const body = JSON.stringify({ Records });
  expect(diagnosisOf({ signed: "other", body, seconds: 100 })).toMatchObject({ reason: "wrong-secret" });
});

test("verify says that it gave up, instead of blaming the secret, when the time is over", () => {
  const body = JSON.stringify(Array.from({ length: 100 }, (_, index) => ({ index, name: "ö" })));
  const diagnosis = diagnosisOf({ signed: "other", body, seconds: 0 });
  expect(diagnosis).toMatchObject({
    reason: "search-ended",
    finding: expect.stringMatching(/ended after 0 s and 1 bodies/),
  });
});

describe("a body of ten names, which have millions of orders", () => {
  const names = Array.from("abcdefghij");
  const bodyOf = (ordered: readonly string[]) =>
    JSON.stringify(Object.fromEntries(ordered.map((name, at) => [name, `${at}`])));

  test.each([
    ["sorted", names],
    [
      "sorted by their length, as PostgreSQL's jsonb sorts them",
      ["z", "aa", "bb", ...names.map((name) => `${name}00`)],
    ],
  ])(
    "verify does not blame the secret if they are %s, since nothing tells how they were sent",
    (_how, ordered) => {
      expect(diagnosisOf({ signed: "other", body: bodyOf(ordered), seconds: 1 })).toMatchObject({
        reason: "search-ended",
      });
    },
  );

  test("verify blames the secret if they are not sorted, since nothing sorted them", () => {
    const body = bodyOf(names.toReversed());
    expect(diagnosisOf({ signed: "other", body })).toMatchObject({ reason: "wrong-secret" });
  });
});

test("verify finds the order of seven names around a text of kilobytes", () => {
  const log = "line ".repeat(5_000);
  const signed = JSON.stringify({ g: 1, f: 2, e: 3, d: 4, c: 5, b: 6, a: log });
  const body = JSON.stringify({ a: log, b: 6, c: 5, d: 4, e: 3, f: 2, g: 1 });
  expect(diagnosisOf({ signed, body })).toMatchObject({ reason: "body-reserialized" });
});

test.each([
  ["rounded", "1234567890123456800", true],
  ["exact", "1234567890123456789", false],
])(
  "verify names a large number that a parser may have rounded, and no other: one that is %s",
  (_how, number, isNamed) => {
    const diagnosis = diagnosisOf({
      signed: "other",
      body: `{"id":${number},"text":"9007199254740993"}`,
    });
    const named = expect.stringContaining(`the number ${number}, beyond 2^53`);
    expect(diagnosis).toMatchObject({
      reason: "wrong-secret",
      finding: isNamed ? named : expect.not.stringMatching(/2\^53/),
    });
  },
);

test("verify says what it did not try on a body that is too large for it", () => {
  const diagnosis = diagnosisOf({ signed: "other", body: `"${"x".repeat(8 * 1024 * 1024)}"` });
  expect(diagnosis).toMatchObject({
    reason: "search-ended",
    finding: expect.stringMatching(/more than 8 MiB/),
  });
});

test.each([
  ["a string", JSON.stringify("{}".repeat(1_000_000))],
  ["base64", Buffer.alloc(2_000_000, "{}").toString("base64")],
  ["hexadecimal", Buffer.alloc(1_000_000, "{}").toString("hex")],
  ["a printed Buffer", JSON.stringify(Buffer.alloc(500_000, "{}"))],
  ["hexadecimal numbers", Buffer.alloc(500_000, "{}").toString("hex").replace(/../g, "0x$&, ")],
  ["a list of bytes", JSON.stringify([...Buffer.alloc(500_000, "{}")])],
  ["white space", `x${" ".repeat(2_000_000)}x${"\n".repeat(2_000_000)}x`],
  ["quotes", `{"a":"${'\\"'.repeat(1_000_000)}"}`],
  [
    "strings and lists",
    JSON.stringify(Array.from({ length: 20_000 }, (_, at) => [`${at}`, [[`item ${at}`]]])),
  ],
  [
    "many keys",
    JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key${at}`, at]))),
  ],
])("verify ends on megabytes of %s", (_what, body) => {
  expect(diagnosisOf({ signed: "other", body, seconds: 2 })).toMatchObject({
    reason: expect.stringMatching(/^(wrong-secret|search-ended)$/),
  });
});
