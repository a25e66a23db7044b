import * as fc from "fast-check";
import { fuzzSeed } from "../../seed";
import { Actor } from "./actor";
import { LivingPlugin } from "./livingPlugin";
import { type Step, scenario } from "./scenario";

/** How many are played at once: most of the time they wait. */
const atOnce = 4;

const { FUZZ_STEPS = "120", FUZZ_PATH } = process.env;
const wanted = Number(FUZZ_STEPS);
const seed = fuzzSeed();

jest.setTimeout(60_000 + wanted * 1_000);

/** Plays scenarios until they had so many steps. A failure names the seed and the path that `npm run fuzz` replays. */
async function play(steps: number, options: { seed: number; path?: string }): Promise<void> {
  const plugin = new LivingPlugin();
  let done = 0;
  const property = fc.asyncProperty(scenario, async (each: Step[]) => {
    if (done >= steps && options.path === undefined) return;
    done += each.length;
    const { wrong, story } = await Actor.play(each, plugin);
    if (wrong.length === 0) return;
    throw new Error([...wrong, "What happened:", ...story].join("\n"));
  });
  try {
    // Each scenario has five steps or more.
    await fc.assert(property, {
      ...options,
      numRuns: Math.ceil(steps / 5),
      endOnFailure: true,
    });
  } finally {
    await plugin.stop();
  }
}

it(`random programs, edits, faults and kills end with exactly what is declared (${wanted} steps, seed ${seed})`, async () => {
  if (FUZZ_PATH !== undefined) return play(1, { seed, path: FUZZ_PATH });
  const shards = Array.from({ length: atOnce }, (_, index) => play(wanted / atOnce, { seed: seed + index }));
  const failed = (await Promise.allSettled(shards)).flatMap((result) =>
    result.status === "rejected" ? [result.reason] : [],
  );
  if (failed.length > 0) throw new Error(failed.map((error) => `${error}\n${error.cause}`).join("\n\n"));
});
