import { redisDedupe } from "../../../src/receiver";

/** A client of ioredis that answers so; what it is with a Redis, test/redis holds. */
function clientThat(evalsha: () => Promise<unknown>) {
  return { evalsha: jest.fn(evalsha), eval: jest.fn(async () => -1) };
}

test("a script is sent in whole where Redis does not know it, and after no other error", async () => {
  const forgetful = clientThat(() => Promise.reject(new Error("NOSCRIPT No matching script.")));
  expect(await redisDedupe({ client: forgetful }).claim("a", 1)).toMatchObject({ state: "claimed" });
  const broken = clientThat(() => Promise.reject(new Error("Connection is closed.")));
  await expect(redisDedupe({ client: broken }).claim("a", 1)).rejects.toThrow("Connection is closed.");
  expect(broken.eval).not.toHaveBeenCalled();
});

test.each([[null], [undefined], ["OK"], [1.5], [{}]])("an answer of %p is no claim", async (answer) => {
  const client = clientThat(async () => answer);
  await expect(redisDedupe({ client }).claim("a", 1)).rejects.toThrow(TypeError);
});

test("an answer as text is a number", async () => {
  const client = clientThat(async () => "250");
  expect(await redisDedupe({ client }).claim("a", 1)).toEqual({ state: "held", retryAfterMs: 250 });
});

test("a client of neither kind is a mistake of the program", () => {
  expect(() => redisDedupe({ client: {} as never })).toThrow(TypeError);
});
