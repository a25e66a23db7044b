// Starts the files that take longest before the others, so that none of them runs alone at the end. Where an earlier run has left no
// times, as in a fresh clone, Jest goes by the size of the files.

const Sequencer = require("@jest/test-sequencer").default;

/** From 20 seconds on, measured on two cores. */
const LONGEST = [
  "engine/recover",
  "endpoint/faults",
  "engine/programs",
  "engine/native",
  "package/tutorial",
  "engine/model",
  "engine/faults",
  "engine/commands",
  "engine/lifecycle",
  "queues/durability",
  "engine/killed",
  "endpoint/pending",
  "cli/listenRegister",
  "scripts/demo",
  "engine/moves",
  "scripts/setup",
  "engine/hooks",
  "engine/nativeLanguages",
  "cli/commands",
  "engine/validation",
  "endpoint/fuzz/fuzz",
  "engine/messages",
  "queues/recipes",
  "cli/verify/limits",
  "engine/adopted",
  "package/quickstart",
];

const placeOf = ({ path }) => {
  const place = LONGEST.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return place < 0 ? LONGEST.length : place;
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((a, b) => placeOf(a) - placeOf(b));
  }
};
