import { startEmulator } from "../../src/emulator";
import type { Resource } from "../../src/settlement/deployment";
import {
  args,
  clock,
  emulator,
  entries,
  interrupted,
  killed,
  later,
  living,
  questions,
  run,
  SECOND,
  said,
  sent,
} from "./recovery";

describe("the account of an interrupted registration", () => {
  const providerType = "pulumi:providers:pulumi-nodejs";
  const providerUrn = `urn:pulumi:dev::test::${providerType}`;
  const providerOf = (urn: string, inputs: object): Resource => ({
    ...{ urn, id: "p", type: "pulumi:providers:pulumi-nodejs" },
    inputs: { ...inputs },
  });
  const ofProvider = (urn: string) => [interrupted("a", {}, `${urn}::p`)];

  it.each([
    `${providerType}::default-account`,
    `${providerType}::default_eu`,
    `${providerType}::defaults`,
    `my:index:Team$${providerType}::team`,
  ])(
    "recover looks in the account of the explicit provider %s, also if it has a parent or its name begins with default",
    async (typeAndName) => {
      const other = await startEmulator({ apiKey: "key-of-the-provider", now: clock.date });
      try {
        const { id } = other.add(args);
        const urn = `urn:pulumi:dev::test::${typeAndName}`;
        const inputs = { "webhooks:baseUrl": other.url, "webhooks:apiKey": "key-of-the-provider" };
        const pulumi = killed({ operations: ofProvider(urn), resources: [providerOf(urn, inputs)] });
        expect(await run(pulumi)).toBe("done");
        expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
        expect(emulator.requests).toEqual([]);
        // What only the book shows by now.
        pulumi.deployment = { ...pulumi.deployment, pending_operations: [] };
        expect(await run(pulumi)).toBe("done");
        expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
        expect(emulator.requests).toEqual([]);
      } finally {
        await other.close();
      }
    },
  );

  it("recover says that `pulumi up` knows the new key where the state has an old one of an explicit provider", async () => {
    const urn = `${providerUrn}::team`;
    const resources = [providerOf(urn, { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": "rotated" })];
    await expect(run(killed({ operations: ofProvider(urn), resources }))).rejects.toMatchObject({
      code: "UNAUTHORIZED",
    });
    expect(said.join("\n")).toMatch(/the key that the state has of a WebhooksProvider.*`pulumi up` settles/);
  });

  it.each(["default", "default_3_248_0", "default_1_2_3_alpha"])(
    "recover looks in the account of the stack's configuration if the provider is the engine's own %s",
    async (name) => {
      const { id } = emulator.add(args);
      const urn = `${providerUrn}::${name}`;
      const resources = [providerOf(urn, { "webhooks:apiKey": "an old key" })];
      expect(await run(killed({ operations: ofProvider(urn), resources }))).toBe("done");
      expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
    },
  );

  const encrypted = (value: unknown) => ({
    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
    plaintext: JSON.stringify(value),
  });
  it.each([
    ["a number", 4000],
    ["a JSON string", "4000"],
    ["a secret number", encrypted(4000)],
    ["a secret string", encrypted("4000")],
  ])("recover reads a setting of a native provider that is %s", async (_what, timeoutSeconds) => {
    const urn = "urn:pulumi:dev::test::pulumi:providers:webhooks::other";
    const inputs = { baseUrl: emulator.url, apiKey: encrypted(emulator.apiKey), timeoutSeconds };
    const native = { ...providerOf(urn, inputs), type: "pulumi:providers:webhooks" };
    const pulumi = killed({ operations: ofProvider(urn), resources: [native] });
    await expect(run(pulumi)).rejects.toThrow(/timeoutSeconds must be .*SETTINGS_INVALID/);
  });

  it("recover settles the others if the state no longer has the explicit provider of one", async () => {
    const { id } = emulator.add(args);
    const operations = [...ofProvider(`${providerUrn}::gone`), interrupted("b")];
    expect(await run(killed({ operations }))).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
    expect(said.join("\n")).toMatch(
      /1 registration \(a\) was sent by a WebhooksProvider that the state no longer has/,
    );
    // Another provider has made it since.
    const resources = [living("a", {}, { id: "wh_2" })];
    await run(killed({ operations: ofProvider(`${providerUrn}::gone`), resources }));
    expect(said.join()).not.toContain("WebhooksProvider");
  });

  it("recover looks in the account of an explicit provider that was made again since", async () => {
    const { id } = emulator.add(args);
    const urn = `${providerUrn}::team`;
    const inputs = { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey };
    const resources = [{ ...providerOf(urn, inputs), id: "another" }];
    expect(await run(killed({ operations: ofProvider(urn), resources }))).toBe("done");
    expect(said.join("\n")).toMatch(new RegExp(`${id}.*takes it over`));
  });

  it("recover says that what it did not find may be in another account, with whose key it was sent", async () => {
    const entry = sent(SECOND, { fingerprint: "ffffff" });
    const pulumi = killed({ operations: [interrupted("a")] });
    later(60);
    expect(await run(pulumi)).toBe("done");
    expect(said.join("\n")).toMatch(
      /left nothing behind[\s\S]*sent with another API key, or to another base URL/,
    );
    expect(entries().map(({ name, closed }) => [name, closed])).toEqual([[entry.name, false]]);
    expect(await run(pulumi, ["y"])).toBe("done");
    expect(entries().map(({ closed }) => closed)).toEqual([true]);
  });

  it("recover says that nothing can be looked up for a provider that the state no longer has", async () => {
    sent(SECOND, { provider: "gone", fingerprint: "ffffff" });
    expect(await run(killed({}))).toBe("done");
    expect(said[0]).toMatch(/1 registration was sent by a WebhooksProvider that the state no longer has/);
    expect(await run(killed({}), ["y"])).toBe("done");
    expect(questions).toEqual([expect.stringMatching(/^Should it be forgotten\?/)]);
    expect(await run(killed({}), [])).toBe("done");
    expect(said).toEqual([expect.stringMatching(/^Nothing to recover/)]);
  });
});
