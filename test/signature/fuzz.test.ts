import { fuzz } from "./fuzz/run";

const mutations = Number(process.env.FUZZ_MESSAGES ?? 20_000);
const seed = process.env.FUZZ_SEED === undefined ? Date.now() % 2 ** 32 : Number(process.env.FUZZ_SEED);

jest.setTimeout(30_000 + mutations);

test(`of ${mutations} mutated messages none is accepted, none throws, and each genuine one is accepted (seed ${seed})`, () => {
  expect(fuzz({ mutations, seed })).toMatchObject({ wrong: [] });
});
