import { receiver } from "./receiver";
import { A, B, SUCCEEDED, verified } from "./signing";
import { HOOK, started } from "./support";

describe("secrets", () => {
  test("with several secrets, each signs every delivery", async () => {
    const { url, received } = await receiver();
    const emulator = await started({ secrets: [A, B] });
    emulator.add({ ...HOOK, url });
    await emulator.deliver(SUCCEEDED);
    expect(received[0]?.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
    expect([verified(received[0], A), verified(received[0], B)]).toEqual([true, true]);
  });

  test("production and development can have different secrets", async () => {
    const { url, received } = await receiver();
    const emulator = await started({ secrets: { production: A, development: [B] } });
    emulator.add({ ...HOOK, url, type: "development" });
    await emulator.deliver(SUCCEEDED);
    expect([verified(received[0], A), verified(received[0], B)]).toEqual([false, true]);
  });

  test("each emulator generates its own secret by default", async () => {
    const emulator = await started();
    const [secret = ""] = emulator.secrets();
    expect(emulator.secrets("development")).toEqual([secret]);
    const { url, received } = await receiver();
    emulator.add({ ...HOOK, url });
    await emulator.deliver(SUCCEEDED);
    expect(verified(received[0], secret)).toBe(true);
    expect((await started()).secrets()).not.toEqual([secret]);
  });

  test("during a rotation the old and the new secret both sign", async () => {
    const { url, received } = await receiver();
    const emulator = await started({ secrets: A });
    emulator.add({ ...HOOK, url });
    const valid = async () => {
      await emulator.deliver(SUCCEEDED);
      return [A, B].map((secret) => verified(received.at(-1), secret));
    };
    expect(await valid()).toEqual([true, false]);
    const rotation = emulator.rotateSecret({ secret: B });
    expect(await valid()).toEqual([true, true]);
    rotation.finish();
    rotation.finish();
    expect(await valid()).toEqual([false, true]);
    const { secret } = emulator.rotateSecret({ type: "production" });
    expect(emulator.secrets()).toEqual([secret, B]);
    expect(emulator.secrets("development")).toEqual([B]);
  });

  test("an invalid secret is refused, and the error does not contain it", async () => {
    await expect(started({ secrets: "whsec_a-value-to-look-for" })).rejects.toThrow(
      /^(?!.*look-for).*padded base64/,
    );
    await expect(started({ secrets: [] })).rejects.toThrow("empty");
    const emulator = await started();
    expect(() => emulator.rotateSecret({ secret: "plain" })).toThrow("whsec_");
  });
});
