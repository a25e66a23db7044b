import { fuzz } from "./fuzz/run";

// A million: npx ts-node -T test/signature/fuzz/run.ts 1000000
test("no mutated message is accepted, none throws, and each genuine one is accepted", () => {
  const seed = Date.now() % 2 ** 32;
  expect({ seed, ...fuzz({ mutations: 20_000, seed }) }).toMatchObject({ seed, wrong: [] });
});
