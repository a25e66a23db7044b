import { unknownOptions } from "../../src/shared/knownOptions";
import { masked, shown } from "../../src/shared/masking";
import { describeResource, isDefaultProvider, nameOf, stackOf } from "../../src/shared/urn";
import { countOf, quoted } from "../../src/shared/words";

test("unknownOptions names each option that is not known and has a value, and the known ones", () => {
  expect(unknownOptions({ a: 1, b: 2, c: undefined }, ["a", "d"], "an option")).toEqual([
    "b is not an option; use a, d",
  ]);
  expect([undefined, null].flatMap((none) => unknownOptions(none, [], "an option"))).toEqual([]);
});

test.each([
  "receivers/prod.json",
  "WEBHOOK_SECRET_2",
  "my receiver",
  "/home/user/very-long-folder-name/of/words/a.json",
  "C:\\Users\\Someone\\Projects\\webhooks1\\receiver.json",
])("the name %s is shown", (name) => expect(shown(name)).toBe(name));

test.each([
  ...["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", '{"secrets":["x"]}'],
  ...["/run/MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw/a.json", "MfKQ9r8/GKYqrTwj/UPD8ILP/ZIo2La"],
  ...["C:\\run\\MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\\a.json", "MfKQ9r8\\GKYqrTwj\\UPD8ILP\\ZIo2La"],
])("what may be a secret is not shown: %s", (secret) => {
  expect(shown(secret)).toBe("(not shown, because it may be a secret)");
});

test.each([
  ["error: no stack named 'dev' found", "error: no stack named 'dev' found"],
  ["bad key whsec_short, in a.json", "bad key whsec_…, in a.json"],
  ["GET https://user:pass@host/path?token=x failed", "GET https://…@host/path?… failed"],
  ['value {"secrets":["x"]}', "value {…"],
  ["stat C:\\app\\MfKQ9r8\\GKYqrTwj\\UPD8ILP: no such file", "stat C:…: no such file"],
  ["key MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw= is bad", "key … is bad"],
])("of the line %j, %j is shown", (line, safe) => {
  expect(masked(line)).toBe(safe);
});

test("a URN tells its resource's name, stack and project", () => {
  const urn = "urn:pulumi:dev::shop::my:component$webhooks:index:WebhookEndpoint::a::b";
  expect([nameOf(urn), stackOf(urn)]).toEqual(["a::b", { stack: "dev", project: "shop" }]);
  expect(describeResource({ urn })).toBe("a::b in shop/dev");
  expect(["default", "default_1_2_3", "mine"].map(isDefaultProvider)).toEqual([true, true, false]);
});

test("numbers have their noun, and values are quoted for a shell where they need it", () => {
  expect([countOf(1, "endpoint"), countOf(2, "endpoint")]).toEqual(["1 endpoint", "2 endpoints"]);
  expect(["a/b=c", "it's", ""].map(quoted)).toEqual(["a/b=c", "'it'\\''s'", "''"]);
});
