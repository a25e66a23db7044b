import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { output } from "@pulumi/pulumi";
import fc from "fast-check";
import { parseReceiverConfig, ReceiverConfigError, receiverFromEnv, receiverFromFile } from "../../src/stack";
import { configText, leaked, newSecret, thrownBy } from "./support";

const folder = mkdtempSync(join(tmpdir(), "stack-"));
afterAll(() => {
  delete process.env.RECEIVER_UNDER_TEST;
  rmSync(folder, { recursive: true, force: true });
});

/** Each way to a configuration or a receiver from a string. */
const ways: Readonly<Record<string, (text: string) => unknown>> = {
  "": parseReceiverConfig,
  "in RECEIVER_UNDER_TEST"(text) {
    process.env.RECEIVER_UNDER_TEST = text;
    return receiverFromEnv({ variable: "RECEIVER_UNDER_TEST" }, { handlers: {}, onUnhandled() {} });
  },
  [`in ${folder}/receiver.json`](text) {
    writeFileSync(join(folder, "receiver.json"), text);
    return receiverFromFile({ path: join(folder, "receiver.json") }, { handlers: {}, onUnhandled() {} });
  },
};

const [secret, other] = [newSecret(), newSecret()];
const config = configText(secret);
const text = (change: object) => JSON.stringify({ ...JSON.parse(config), ...change });

test.each<[what: string, text: string, says: string]>([
  ["a masked secret", configText(secret, "[secret]"), "secret 2 of 2 is masked"],
  ["a secret copied from a log", configText("whsec_********"), "secret 1 of 1 is masked"],
  ["a secret cut off in the middle", configText(secret.slice(0, -5)), "secret 1 of 1 is cut off or altered"],
  ["a secret cut off where it is still base64", configText(secret.slice(0, -8)), "its key has 18 bytes"],
  ["a secret with another prefix", configText(secret.replace("whsec", "sk")), 'not begin with "whsec_"'],
  ["a secret in quotes", configText(`'${secret}'`), "secret 1 of 1 is in quotes"],
  ["a secret with a line end", configText(`${secret}\n`), "begins or ends with white space"],
  ["a secret twice", configText(secret, other, secret), "secret 3 of 3 is the same as an earlier one"],
  ["an empty secret", configText(secret, ""), "secret 2 of 2 is empty"],
  ["a secret that is not a string", configText(17), "secret 1 of 1 is of type number, not a string"],
  ["null as a secret", text({ secrets: [null] }), "secret 1 of 1 is null, not a string"],
  ["no secret", configText(), "secrets is empty"],
  ["a secret in place of a list", text({ secrets: secret }), "secrets must be a list"],
  ["a tolerance in milliseconds", text({ toleranceSeconds: 300_000 }), "not milliseconds"],
  ["the secret itself", secret, "it is only the signing secret: pass that to createReceiver"],
  ["the first line of JSON over several lines", "{", "put all of it in single quotes"],
  ["a list of secrets", JSON.stringify([secret]), "it is only the signing secret"],
  ["half of the output", config.slice(0, -9), "it is JSON that is cut off or altered"],
  ["JSON with a comma too many", config.replace(/}$/, ",}"), "it is JSON that is cut off or altered"],
  ["another text", "hooks.example.com", "it is not the JSON of a configuration"],
  ["JSON whose quotes a shell removed", config.replaceAll('"', ""), "it has lost its double quotes"],
  ["such JSON with spaces", "{ version: 1, secrets: [ x ] }", "it has lost its double quotes"],
  ["JSON with escaped quotes", config.replaceAll('"', '\\"'), "it has quotes that are escaped"],
  ["a dictionary of Python", config.replaceAll('"', "'"), "not those of JSON"],
  ["JSON from a text processor", config.replaceAll('"', "”"), "not those of JSON"],
  ["an Output as a string", String(output({})), "it is the text of a Pulumi Output"],
  ["an Output in JSON", JSON.stringify({ receiver: output({}) }), "it is the text of a Pulumi Output"],
  ["an object as a string", `${{}}`, "it is the text of a missing value or an object"],
  ["a value that is missing, as a string", String(undefined), "it is the text of a missing value"],
  ["null", "null", "it is the text of a missing value"],
  ["a variable that was not replaced", `\${WEBHOOK_RECEIVER}`, "it is a reference that nothing has replaced"],
  ["a command that was not run", "$(pulumi stack output receiver)", "it is a reference that nothing"],
  ["a masked output", "[secret]\n", "it is masked"],
  ["a masked output as JSON", '"[secret]"\n', "it is masked"],
  ["JSON in single quotes, as docker --env-file leaves them", `'${config}'`, "it is in quotes"],
  ["JSON in double quotes", `"${config}"`, "it is in quotes"],
  ["a secret as some libraries write it", configText(`v1,${secret}`), 'begins with "v1,": remove that'],
  ["a line of an env file", configText(`WEBHOOK_SECRET=${secret}`), "keep only what follows the ="],
  ["a line of an env file with JSON", `export WEBHOOK_RECEIVER='${config}'`, "keep only what follows the ="],
  ["all outputs", JSON.stringify({ receiver: JSON.parse(config) }), "it may be all outputs"],
  ["a later version", text({ version: 2 }), "a later pulumi-webhook-endpoints"],
])(
  "%s is refused by every way to a receiver, in one sentence that repeats no secret",
  async (_, given, says) => {
    for (const [where, give] of Object.entries(ways)) {
      const error = await thrownBy(() => give(given));
      expect(error).toBeInstanceOf(ReceiverConfigError);
      expect(error).toMatchObject({ name: "ReceiverConfigError", code: "CONFIG_INVALID" });
      const { message } = error as Error;
      expect(message).toContain(`configuration${where && ` ${where}`} cannot be used: `);
      expect(message).toContain(says);
      expect(message).not.toContain(";");
      expect(leaked(error, [secret, other])).toEqual([]);
    }
  },
);

test.each([
  ["an empty file", "", "it is empty"],
  ["a file of white space", " \r\n", "it is empty"],
  ["the file that PowerShell 5 writes", Buffer.from(`\uFEFF${config}`, "utf16le"), "it is in UTF-16"],
])("%s is named", async (_what, content, says) => {
  const path = join(folder, "odd.json");
  writeFileSync(path, content);
  const error = await thrownBy(() => receiverFromFile({ path }, { handlers: {}, onUnhandled() {} }));
  expect(error).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining(says) });
});

test("an error lists every problem at once", async () => {
  const wrong = { version: 1, secrets: ["", "x"], toleranceSeconds: 1.5 };
  const { message } = (await thrownBy(() => parseReceiverConfig(wrong))) as Error;
  expect(message.match(/secret 1|secret 2|toleranceSeconds/g)).toHaveLength(3);
});

test("a byte order mark, which PowerShell writes before the JSON, does no harm on any way to a receiver", () => {
  for (const give of Object.values(ways)) expect(() => give(`\uFEFF${config}\r\n`)).not.toThrow();
  expect(parseReceiverConfig(`\uFEFF${JSON.stringify(config)}`).secrets).toEqual([secret]);
});

test("a key of a later version is ignored", () => {
  const later = { version: 1, secrets: [secret], region: "eu" };
  expect(parseReceiverConfig(later)).toMatchObject({ secrets: [secret], toleranceSeconds: 300 });
});

const anySecret = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((key) => `whsec_${Buffer.from(key).toString("base64")}`);
const anyEndpoint = fc.record({ id: fc.string(), url: fc.webUrl(), type: fc.constant("production") });
const anyConfig = fc.record(
  {
    version: fc.constant(1),
    secrets: fc.uniqueArray(anySecret, { minLength: 1, maxLength: 4 }),
    toleranceSeconds: fc.nat(86_400),
    endpoints: fc.dictionary(fc.string(), anyEndpoint),
  },
  { requiredKeys: ["version", "secrets"] },
);

test("a configuration parses the same as a value, as JSON, and as a JSON string", () => {
  fc.assert(
    fc.property(anyConfig, (given) => {
      const parsed = parseReceiverConfig(given);
      expect(parsed).toMatchObject({ toleranceSeconds: 300, endpoints: {}, ...given });
      expect(parseReceiverConfig(JSON.stringify(given))).toEqual(parsed);
      expect(parseReceiverConfig(JSON.stringify(JSON.stringify(parsed)))).toEqual(parsed);
    }),
  );
});

test("parseReceiverConfig returns a configuration or throws its own error, whatever it is given", () => {
  const bare = fc.record({ version: fc.constant(1), secrets: fc.anything(), endpoints: fc.anything() });
  fc.assert(
    fc.property(fc.oneof(bare, fc.anything()), (given) => {
      try {
        expect(parseReceiverConfig(given).secrets.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(ReceiverConfigError);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("the fingerprint identifies the secrets, in any order, and nothing else", () => {
  const of = (change: object) => parseReceiverConfig(text(change)).fingerprint;
  const fingerprint = of({ secrets: [secret, other] });
  expect(fingerprint).toMatch(/^[0-9a-f]{12}$/);
  for (const change of [{ endpoints: {} }, { toleranceSeconds: 299 }, { fingerprint: "000000000000" }])
    expect(of({ secrets: [other, secret], ...change })).toBe(fingerprint);
  const others = [[secret], [other], [secret, newSecret()]].map((secrets) => of({ secrets }));
  expect(new Set([fingerprint, ...others]).size).toBe(1 + others.length);
});
