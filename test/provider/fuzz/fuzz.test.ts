import * as fc from "fast-check";
import { fuzzSeed } from "../../seed";
import { Actor, type Step } from "../actor";
import { scenario } from "./scenario";

const { FUZZ_STEPS = "2000", FUZZ_PATH } = process.env;
const wanted = Number(FUZZ_STEPS);
const seed = fuzzSeed();

jest.setTimeout(60_000 + wanted * 100);

/** Plays scenarios until they had so many steps. A failure names the seed and the path that `npm run fuzz` replays. */
it(`random programs, edits, faults and kills end with exactly what is declared (${wanted} steps, seed ${seed})`, async () => {
  // The jitter of the client's backoffs.
  const random = jest.spyOn(Math, "random").mockReturnValue(0.5);
  let done = 0;
  const property = fc.asyncProperty(scenario, async (each: Step[]) => {
    if (done >= wanted && FUZZ_PATH === undefined) return;
    done += each.length;
    const { wrong, story } = await Actor.play(each);
    if (wrong.length > 0) throw new Error([...wrong, "What happened:", ...story].join("\n"));
  });
  try {
    const path = FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH, endOnFailure: true };
    // Each scenario has five steps or more.
    await fc.assert(property, { seed, ...path, numRuns: Math.ceil(wanted / 5) });
  } finally {
    random.mockRestore();
  }
});
