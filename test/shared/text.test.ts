import { commandLine, quoted } from "../../src/shared/commandLine";
import { foreign, printable } from "../../src/shared/escape";
import { masked, shown } from "../../src/shared/masking";
import { unknownOptions } from "../../src/shared/optionChecks";
import { describeResource, isDefaultProvider, nameOf, stackOf } from "../../src/shared/urn";
import { countOf } from "../../src/shared/words";

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

test("numbers have their noun", () => {
  expect([countOf(1, "endpoint"), countOf(2, "endpoint")]).toEqual(["1 endpoint", "2 endpoints"]);
});

test.each([
  // value, quoted for a POSIX shell, quoted for cmd.exe and PowerShell
  ["a/b=c", "a/b=c", "a/b=c"],
  ["", "''", '""'],
  ["it's", "'it'\\''s'", '"it\'s"'],
  ["x&y", "'x&y'", '"x&y"'],
  ["'; touch x", "''\\''; touch x'", '"\'; touch x"'],
  ["50%", "'50%'", "…"],
  ['a"b', "'a\"b'", "…"],
  ["a b\\", "'a b\\'", "…"],
  ["--orphans", "…", "…"],
  ["-h", "…", "…"],
  ["a\nb", "…", "…"],
  ["a\u202eb", "…", "…"],
])("the value %j is quoted as %s, and on Windows as %s", (value, posix, windows) => {
  expect([quoted(value, "linux"), quoted(value, "win32")]).toEqual([posix, windows]);
});

test("no advised command has an id that is an option, a program or no id at all", () => {
  expect(commandLine("get", "wh_1.a:b-c", " --all")).toBe(
    "`npx pulumi-webhook-endpoints get wh_1.a:b-c --all`",
  );
  for (const id of ["--orphans", "-h", "x&y", "'; touch x", "a b", "", "\u001b[2J", "a\nb", "x".repeat(201)])
    expect(commandLine("delete", id)).toBe("`npx pulumi-webhook-endpoints delete …` (`list` shows its id)");
});

test.each([
  ["a\u001b[2Jb\u0007\u009b", "a\\u001b[2Jb\\u0007\\u009b"],
  ["a\u202eb\u2028\u{e0001}", "a\\u202eb\\u2028\\udb40\\udc01"],
  ["one\r\n- two", "one\\u000d\\u000a- two"],
  ["::error::x", "\\u003a:error::x"],
  ["  ::add-mask::x", "  \\u003a:add-mask::x"],
  ["a::b", "a::b"],
  ["see ##[group]x and ##vso[task.x]", "see \\u0023#[group]x and \\u0023#vso[task.x]"],
  ["plain – ü 😀", "plain – ü 😀"],
])("of %j, neither a terminal nor the log of a pipeline obeys anything", (text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(printable(shown)).toBe(shown);
});

test("a value of others is cut, and a url of it loses its user name and password", () => {
  expect(foreign("https://user:p@ss@host/a@b?c")).toBe("https://host/a@b?c");
  expect(foreign(7)).toBe("7");
  expect(foreign("x".repeat(200))).toBe("x".repeat(200));
  expect(foreign("x".repeat(201))).toBe(`${"x".repeat(200)}…`);
  expect(foreign("\u001b".repeat(1_000_000))).toHaveLength(201);
  expect(foreign(`https://${"u".repeat(1_000_000)}:p@host/`)).toBe("https://host/");
  expect(foreign("://".repeat(100_000))).toHaveLength(201);
});
