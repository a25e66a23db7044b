import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { parseReceiverConfig, ReceiverConfigError, receiverFromEnv, receiverFromFile } from "../../src/stack";
import { configText, leaked, newSecret, thrownBy } from "./support";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stack-"));
});
afterEach(() => {
  delete process.env.RECEIVER_UNDER_TEST;
  rmSync(folder, { recursive: true, force: true });
});

/** Each way to a configuration or a receiver from a string. */
const ways: Readonly<Record<string, (text: string) => unknown>> = {
  parse: parseReceiverConfig,
  env(text) {
    process.env.RECEIVER_UNDER_TEST = text;
    return receiverFromEnv({ variable: "RECEIVER_UNDER_TEST" }, { handlers: {} });
  },
  file(text) {
    writeFileSync(join(folder, "receiver.json"), text);
    return receiverFromFile({ path: join(folder, "receiver.json") }, { handlers: {} });
  },
};

const secret = newSecret();
const other = newSecret();

const unusable: readonly [what: string, text: string, says: string][] = [
  ["a masked secret", configText(secret, "[secret]"), "secret 2 of 2 is masked"],
  ["a secret copied from a log", configText("whsec_********"), "secret 1 of 1 is masked"],
  ["a secret cut off in the middle", configText(secret.slice(0, -5)), "secret 1 of 1 is cut off or altered"],
  ["a secret cut off where it is still base64", configText(secret.slice(0, -8)), "its key has 18 bytes"],
  ["a secret cut off by a screen", configText(`${secret.slice(0, 20)}…`), "secret 1 of 1 is cut off"],
  ["a secret cut off by a log", configText(`${secret.slice(0, 20)}...`), "secret 1 of 1 is cut off ("],
  ["a secret with another prefix", configText(secret.replace("whsec", "sk")), 'not begin with "whsec_"'],
  ["a secret without its prefix", configText(secret.slice("whsec_".length)), 'not begin with "whsec_"'],
  ["a secret with a line end", configText(`${secret}\n`), "begins or ends with white space"],
  ["a secret twice", configText(secret, other, secret), "secret 3 of 3 is the same as an earlier one"],
  ["an empty secret", configText(secret, ""), "secret 2 of 2 is empty"],
  ["a secret that is not a string", configText(17), "secret 1 of 1 is of type number, not a string"],
  ["no secret", configText(), "secrets is empty"],
  ["the secret itself", secret, "it is not the JSON that"],
  ["the secret itself as JSON", JSON.stringify(secret), "it is not the JSON that"],
  ["a list of secrets", JSON.stringify([secret]), "it is not the JSON that"],
  ["a masked output", "[secret]\n", "it is masked"],
  ["a masked output as JSON", '"[secret]"\n', "it is masked"],
  ["half of the output", configText(secret).slice(0, -9), "it is not the JSON that"],
  [
    "a misspelt key",
    JSON.stringify({ version: 1, secrets: [secret], tolerance_seconds: 9 }),
    "toleranceSeconds is misspelt",
  ],
  [
    "a part of a key",
    JSON.stringify({ version: 1, secrets: [secret], tolerance: 9 }),
    "toleranceSeconds is misspelt",
  ],
  [
    "all outputs",
    JSON.stringify({ url: "x", receiver: { version: 1, secrets: [secret] } }),
    "these are all outputs of a stack: use one, as `pulumi stack output receiver --show-secrets --json` prints it",
  ],
  ["another output", JSON.stringify({ secrets: [secret] }), "it was not created by receiverConfig"],
  ["a later version", JSON.stringify({ version: 2, keys: [secret] }), "update pulumi-webhook-endpoints here"],
  [
    "a version that is no number",
    JSON.stringify({ version: "1", secrets: [secret] }),
    "its version must be 1",
  ],
];

test.each(unusable)(
  "%s is refused by every way to a receiver, in one sentence that repeats no secret",
  async (_, text, says) => {
    for (const [way, give] of Object.entries(ways)) {
      const error = await thrownBy(() => give(text));
      expect(error).toBeInstanceOf(ReceiverConfigError);
      expect(error).toMatchObject({ name: "ReceiverConfigError", code: "CONFIG_INVALID" });
      const { message } = error as Error;
      expect(message).toContain(says);
      expect(message.match(/\(CONFIG_INVALID\)$|CONFIG_INVALID/g)).toEqual(["(CONFIG_INVALID)"]);
      expect(message).not.toContain(";");
      const [, where] = /configuration (?:in )?(\S*?)\s?cannot be used/.exec(message) ?? [];
      expect(where).toBe({ env: "RECEIVER_UNDER_TEST", file: join(folder, "receiver.json") }[way] ?? "");
      expect(leaked(error, [secret, other])).toEqual([]);
    }
  },
);

test("a byte order mark, which PowerShell writes before the JSON, is no problem on any way to a receiver", () => {
  const text = `\uFEFF${configText(secret)}\r\n`;
  for (const give of Object.values(ways)) expect(() => give(text)).not.toThrow();
  expect(parseReceiverConfig(`\uFEFF${JSON.stringify(configText(secret))}`).secrets).toEqual([secret]);
});

test("a key of a later version is ignored, also one that is spelt like a key that is there", () => {
  const later = { version: 1, secrets: [secret], region: "eu", versions: [1, 2], secret: "none" };
  expect(parseReceiverConfig(later)).toMatchObject({ secrets: [secret], toleranceSeconds: 300 });
});

test("an error lists every problem at once", async () => {
  const config = {
    version: 1,
    secrets: ["", "x"],
    toleranceSeconds: 1.5,
    endpoints: { jobs: { id: "wh_1" } },
  };
  const { message } = (await thrownBy(() => parseReceiverConfig(config))) as Error;
  expect(message.match(/secret 1|secret 2|toleranceSeconds|endpoints/g)).toHaveLength(4);
});

test("if there is no configuration, the error says where it was expected", async () => {
  const path = join(folder, "nowhere.json");
  const fromFile = await thrownBy(() => receiverFromFile({ path }, { handlers: {} }));
  expect(fromFile).toMatchObject({
    code: "CONFIG_MISSING",
    message: expect.stringContaining(`${path} cannot be read: ENOENT`),
  });
  for (const set of [undefined, ""]) {
    if (set !== undefined) process.env.RECEIVER_UNDER_TEST = set;
    const fromEnv = await thrownBy(() =>
      receiverFromEnv({ variable: "RECEIVER_UNDER_TEST" }, { handlers: {} }),
    );
    expect(fromEnv).toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringContaining("RECEIVER_UNDER_TEST"),
    });
  }
  expect(await thrownBy(() => receiverFromEnv({}, { handlers: {} }))).toMatchObject({
    message: expect.stringContaining("WEBHOOK_RECEIVER"),
  });
});

const anySecret = fc
  .uint8Array({ minLength: 24, maxLength: 64 })
  .map((key) => `whsec_${Buffer.from(key).toString("base64")}`);
const anyConfig = fc.record(
  {
    version: fc.constant(1),
    secrets: fc.uniqueArray(anySecret, { minLength: 1, maxLength: 4 }),
    toleranceSeconds: fc.nat(86_400),
    endpoints: fc.dictionary(
      fc.string(),
      fc.record({ id: fc.string(), url: fc.webUrl(), type: fc.constantFrom("production", "development") }),
    ),
  },
  { requiredKeys: ["version", "secrets"] },
);

test("a configuration parses the same as a value, as JSON, and as a JSON string", () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      const parsed = parseReceiverConfig(config);
      expect(parsed).toMatchObject({ toleranceSeconds: 300, endpoints: {}, ...config });
      expect(parseReceiverConfig(JSON.stringify(config))).toEqual(parsed);
      expect(parseReceiverConfig(JSON.stringify(JSON.stringify(parsed)))).toEqual(parsed);
    }),
  );
});

test("parseReceiverConfig returns a configuration or throws its own error, whatever it is given", () => {
  const near = fc.tuple(anyConfig, fc.nat(), fc.string({ maxLength: 3 })).map(([config, at, text]) => {
    const json = JSON.stringify(config);
    return json.slice(0, at % json.length) + text + json.slice((at % json.length) + text.length);
  });
  const bare = fc.record({ version: fc.constant(1), secrets: fc.anything(), endpoints: fc.anything() });
  fc.assert(
    fc.property(fc.oneof(near, bare, fc.anything()), (given) => {
      try {
        expect(parseReceiverConfig(given).secrets.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(ReceiverConfigError);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("the fingerprint identifies the secrets, in any order, and nothing else", () => {
  const of = (change: object) =>
    parseReceiverConfig({ ...JSON.parse(configText(secret, other)), ...change }).fingerprint;
  const fingerprint = of({});
  expect(fingerprint).toMatch(/^[0-9a-f]{12}$/);
  const replaced = { jobs: { id: "wh_2", url: "https://hooks.example.com/jobs", type: "production" } };
  for (const same of [
    { secrets: [other, secret] },
    { endpoints: replaced },
    { endpoints: {} },
    { toleranceSeconds: 299 },
    { fingerprint: "000000000000" },
  ])
    expect(of(same)).toBe(fingerprint);
  const others = [[secret], [other], [secret, newSecret()], [secret, other, newSecret()]];
  const fingerprints = others.map((secrets) => of({ secrets }));
  expect(new Set([fingerprint, ...fingerprints]).size).toBe(1 + others.length);
});
