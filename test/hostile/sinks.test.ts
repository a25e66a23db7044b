import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const src = join(__dirname, "../../src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts"));
const lines = files.flatMap((file) =>
  readFileSync(join(src, file), "utf8")
    .split("\n")
    .map((line) => ({ file, line: line.trim() })),
);
/** Returns the files with a line of code that matches. */
const filesWith = (pattern: RegExp) => {
  const found = lines.filter(({ line }) => pattern.test(line) && !/^(\*|\/\/|\/\*\*)/.test(line));
  return [...new Set(found.map(({ file }) => file))].sort();
};

// Whoever adds a place that writes: pass what it writes to `messageLine`, `printable` or `foreign` of src/shared/escape.ts, add it here,
// and to the tests beside this one.
test("only these files write to a terminal or a log, and each escapes what it writes", () => {
  const writing = filesWith(
    /console\.|emitWarning\(|(stdout|stderr|sink)\.write\b|pulumi\.log\.|setMessage\(/,
  );
  expect(writing).toEqual([
    "cli/main.ts", // its own words
    "cli/output.ts",
    "cli/terminal.ts", // questions, which `confirm` passes to the output's `shown`
    "emulator/options.ts", // what `Deliveries` and `exchange` escape
    "plugin/main.ts", // the port
    "plugin/rpcError.ts",
    "program/queries.ts",
    "program/stackSettings.ts", // its own words
    "program/webhookEndpoint.ts", // the program's own names
    "provider/engine.ts",
    "receiver/adapters/node.ts", // its own words, and an error as it is
    "receiver/adapters/responder.ts", // the adapter's own words, and an error as it is
    "receiver/log.ts",
  ]);
});

test("an error with a value in its message has a code, so that its lines are made in one place; only these have none", () => {
  const pattern = /new (Type|Range)?Error\(.*\$\{/;
  expect(filesWith(pattern).filter((file) => !file.startsWith("receiver/"))).toEqual([
    "client/attempt.ts", // a code
    "emulator/emulatorPage.ts", // its own words, for the page, which escapes
    "plugin/functions.ts", // passes `foreign`
    "plugin/resources.ts", // passes `foreign`
    "provider/facts/stackSource.ts", // becomes a part of a warning or of an error with a code
    "signature/verify.ts", // its own words
    "validation/validateReceiver.ts", // its own words
  ]);
});
