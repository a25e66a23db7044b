import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ReceiverOptions } from "../../src/receiver";

const root = resolve(__dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const namesIn = (text: string) => [...text.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name);

/** Returns the strings of a union type in a file of `src`. */
function membersOf(file: string, type: string): string[] {
  const [, union = ""] = new RegExp(`export type ${type} =([^;]*);`).exec(read(file)) ?? [];
  return [...union.matchAll(/"([a-z0-9-]+)"/g)].map(([, member = ""]) => member);
}

test("docs/signature-mismatch.md has a heading for each reason of a refusal, and for no other", () => {
  const refusals = membersOf("src/receiver/types.ts", "Refusal");
  const failures = membersOf("src/signature/result.ts", "VerificationFailure");
  expect([refusals.length, failures.length]).toEqual([4, 10]);
  const [symptoms = ""] = read("docs/signature-mismatch.md").split("## Differences from the reference");
  const headings = symptoms.split("\n").filter((line) => line.startsWith("## "));
  expect(headings.flatMap(namesIn).sort()).toEqual(
    [...new Set([...refusals, ...failures, "no-secrets"])].sort(),
  );
});

test("the page and each recipe with Redis give its client the options that the tests use", () => {
  const untyped = (line: string) => line.trim().replace(/: (number|Error)\b/, "");
  const source = read("test/integration/redis/options.ts");
  const [, block = ""] = /ioredisOptions = \{\n(.*?)\n\};/s.exec(source) ?? [];
  const options = block.split("\n").map(untyped);
  expect(options).toHaveLength(6);
  const connecting = options.filter((line) => !line.startsWith("lazyConnect"));
  const waiting = connecting.map((line) =>
    line.replace(/(maxRetries\w+: ).*/, "$1null,").replace(/(socketTimeout: ).*/, "$130_000,"),
  );
  const inFile = (file: string) => {
    const lines = read(file).split("\n");
    return lines
      .map(untyped)
      .filter((line) => /^(lazy|maxR|connectT|socketT|retryS|reconnectOn)\w+: /.test(line));
  };
  expect(inFile("docs/deduplication.md")).toEqual(options);
  const nodeRedis = source
    .slice(source.indexOf("nodeRedisOptions"))
    .split("\n")
    .filter((line) => /^ {2}\w/.test(line));
  expect(nodeRedis).toHaveLength(4);
  for (const line of nodeRedis)
    expect(read("docs/deduplication.md")).toContain(untyped(line).replace(/,$/, ""));
  expect(inFile("examples/recipes/sqs/worker.ts")).toEqual(options);
  expect(inFile("examples/recipes/bullmq/receiver.ts")).toEqual(connecting);
  expect(inFile("examples/recipes/bullmq/worker.ts")).toEqual(waiting);
});

test("docs/receiving.md lists each option of a receiver, and no other", () => {
  const [, section = ""] = read("docs/receiving.md").split("\n## Options\n");
  const rows = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| `"));
  const first = rows.flatMap((row) => namesIn(row.split(" | ")[0] ?? ""));
  // The compiler refuses this object if a name is missing or is not an option.
  const options: Record<keyof ReceiverOptions, true> = {
    dedupe: true,
    dedupeKey: true,
    events: true,
    handlers: true,
    handlerTimeoutMs: true,
    leaseMs: true,
    maxBodyBytes: true,
    now: true,
    onOutcome: true,
    onRejected: true,
    onSecretsError: true,
    onUnhandled: true,
    queue: true,
    secrets: true,
    toleranceSeconds: true,
  };
  expect(first.sort()).toEqual(Object.keys(options).sort());
});
