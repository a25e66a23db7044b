import { redisDedupe } from "../../../src/receiver";

/** Makes an ioredis client with a given answer. The tests with a real Redis are in test/redis. */
function clientThat(evalsha: () => Promise<unknown>) {
  return { evalsha: jest.fn(evalsha), eval: jest.fn(async () => -1) };
}

test("the source of a script is sent if Redis does not know its hash, and after no other error", async () => {
  const forgetful = clientThat(() => Promise.reject(new Error("NOSCRIPT No matching script.")));
  expect(await redisDedupe({ client: forgetful }).claim("a", 1)).toMatchObject({ state: "claimed" });
  const broken = clientThat(() => Promise.reject(new Error("Connection is closed.")));
  await expect(redisDedupe({ client: broken }).claim("a", 1)).rejects.toThrow("Connection is closed.");
  expect(broken.eval).not.toHaveBeenCalled();
});

test.each([[null], [undefined], ["OK"], [1.5], [{}], [true]])(
  "an answer of %p makes the claim fail",
  async (answer) => {
    const client = clientThat(async () => answer);
    await expect(redisDedupe({ client }).claim("a", 1)).rejects.toThrow(TypeError);
  },
);

test("an integer that the client returns as a string is understood", async () => {
  const client = clientThat(async () => "250");
  expect(await redisDedupe({ client }).claim("a", 1)).toEqual({ state: "held", retryAfterMs: 250 });
});

test("redisDedupe throws TypeError for anything but a node-redis or an ioredis client", () => {
  expect(() => redisDedupe({ client: {} as never })).toThrow(TypeError);
  const version3 = { ...clientThat(async () => true), internal_send_command: () => true };
  expect(() => redisDedupe({ client: version3 })).toThrow(/version 4 or later/);
});
