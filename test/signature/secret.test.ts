import { keyOf, keysOf, problemOfSecret } from "../../src/signature/secret";
import { thrownBy } from "./support";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test("a secret that the service issues has no problem, and its key is the decoded base64", () => {
  expect(problemOfSecret(secret)).toBeUndefined();
  expect(problemOfSecret(secret, 24)).toBeUndefined();
  expect(Buffer.from(keyOf(secret)).toString("base64")).toBe(secret.slice(6));
  expect(keysOf(secret)).toEqual([keyOf(secret)]);
  expect(keysOf([secret, "whsec_AA=="])).toEqual([keyOf(secret), Buffer.from([0])]);
});

test.each<[unknown, string]>([
  [undefined, "of type undefined"],
  [null, "is null"],
  [7, "of type number"],
  ["", "is empty"],
  ["secret", "is masked"],
  ["[secret]", "is masked"],
  ["[Redacted]", "is masked"],
  ["hidden", "is masked"],
  ["masked", "is masked"],
  ["whsec_***", "is masked"],
  ["whsec_•••", "is masked"],
  [` ${secret}`, "white space"],
  [`${secret}\n`, "white space"],
  ["a secret", 'does not begin with "whsec_"'],
  ["secrets", 'does not begin with "whsec_"'],
  ["**", 'does not begin with "whsec_"'],
  [secret.slice(6), 'does not begin with "whsec_"'],
  ["whsec_MfKQ9r8…", "is cut off."],
  ["whsec_MfKQ9r8...", "is cut off."],
  ["whsec_Mf...KQ9r8", "not padded base64"],
  ["whsec_Mf…KQ9r8", "not padded base64"],
  [secret.slice(0, -1), "not padded base64"],
  ["whsec_AB==", "not padded base64"],
  ["whsec_-_-_", "not padded base64"],
  ["whsec_", "its key has 0 bytes, and the shortest valid one has 1"],
])("what is wrong with the secret %j is said: it %s", (given, problem) => {
  expect(`${problemOfSecret(given)}.`).toContain(problem);
  const error = thrownBy(() => keyOf(given as string));
  expect(String(error)).toContain(
    `WebhookSecretError: A webhook secret cannot be used: it ${problemOfSecret(given)}.`,
  );
  expect(String(error)).toContain('Expected "whsec_" followed by the padded base64 of the key');
});

test("a key that is shorter than asked is said to be cut off, and how long it has to be", () => {
  expect(problemOfSecret(secret, 25)).toBe(
    "is cut off: its key has 24 bytes, and the shortest valid one has 25",
  );
});

test("no secret at all is a problem, also in a list", () => {
  for (const none of [[], undefined, null])
    expect(String(thrownBy(() => keysOf(none as unknown as string[])))).toContain(
      "cannot be used: there is none.",
    );
  for (const wrong of [7, { length: 1 }])
    expect(() => keysOf(wrong as unknown as string[])).toThrow(/it is of type (number|object), neither/);
  expect(() => keysOf(new Array<string>(1))).toThrow("it is of type undefined");
});
