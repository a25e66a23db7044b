import { fuzzSeed } from "../seed";
import { FUZZ_NOW_MS, fuzz } from "./fuzz/run";

const mutations = Number(process.env.FUZZ_MESSAGES ?? 20_000);
const seed = fuzzSeed();

jest.setTimeout(120_000 + mutations);

test(`of ${mutations} mutated messages no forged one is accepted, and none that the reference accepts is refused but for the documented differences (seed ${seed})`, () => {
  jest.useFakeTimers({ now: FUZZ_NOW_MS });
  try {
    const { forged, wronglyRefused, accepted, differences } = fuzz({ mutations, seed });
    expect({ forged, wronglyRefused }).toEqual({ forged: [], wronglyRefused: [] });
    // The mutations reach both sides of every decision.
    expect(accepted).toBeGreaterThan(mutations / 10);
    expect(Object.keys(differences).sort()).toEqual([
      "form of the entry",
      "form of the id",
      "form of the timestamp",
    ]);
  } finally {
    jest.useRealTimers();
  }
});
