import { type Deployment, interruptedRegistrations, plainText } from "../../src/settlement/deployment";
import { TYPE_TOKEN } from "../../src/shared/permanent";
import { nameOf } from "../../src/shared/urn";

const urn = (name: string, type = TYPE_TOKEN) => `urn:pulumi:dev::test::${type}::${name}`;

const deployment: Deployment = {
  resources: [
    { urn: urn("stack", "pulumi:pulumi:Stack"), type: "pulumi:pulumi:Stack" },
    { urn: urn("a"), type: TYPE_TOKEN, id: "wh_1" },
    { urn: urn("a"), type: TYPE_TOKEN, id: "wh_2", delete: true },
  ],
  pending_operations: [
    { type: "creating", resource: { urn: urn("b"), type: TYPE_TOKEN } },
    { type: "deleting", resource: { urn: urn("a"), type: TYPE_TOKEN, id: "wh_1" } },
    {
      type: "creating",
      resource: { urn: urn("bucket", "aws:s3/bucket:Bucket"), type: "aws:s3/bucket:Bucket" },
    },
    { type: "creating", resource: { urn: urn("c"), type: TYPE_TOKEN } },
  ],
};

it("interruptedRegistrations returns the endpoints that were being created, in the state's order", () => {
  expect(interruptedRegistrations(deployment).map((resource) => nameOf(resource.urn))).toEqual(["b", "c"]);
  expect(interruptedRegistrations({})).toEqual([]);
});

it.each([
  ["a string", "value", "value"],
  ["a decrypted secret", { plaintext: '"value"' }, "value"],
  ["an encrypted secret", { ciphertext: "v1:x" }, undefined],
  ["a decrypted number", { plaintext: "7" }, undefined],
  ["null", null, undefined],
  ["nothing", undefined, undefined],
])("plainText reads %s", (_, value, expected) => {
  expect(plainText({ value }, "value")).toBe(expected);
});

it("nameOf returns the whole name, even if it contains colons", () => {
  expect(nameOf(urn("a::b"))).toBe("a::b");
});
