const { default: Sequencer } = require("@jest/test-sequencer");

/** The files that take longest, in that order. A fresh clone does not know, and would begin one of them last, when nothing runs beside it. */
const LONGEST = [
  "engine/people",
  "package/tutorial",
  "engine/cloud",
  "engine/languages",
  "integration/frameworks/frameworks",
  "engine/programs",
  "integration/queues/recipes",
  "engine/comingOver",
  "engine/backends",
  "engine/accidents",
  "engine/lostState",
  "scripts/demo",
  "scripts/setup",
  "provider/recovery",
  "integration/queues/durability",
  "engine/lifecycle",
  "engine/commands",
  "integration/redis/dedupe",
  "engine/interrupted",
  "engine/faults",
  "package/quickstart",
  "integration/recipes/stackReference",
  "engine/native",
  "package/snippets",
  "integration/browser/accessibility",
  "engine/ifExists",
];

/** Begins the longest files first. */
class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const at = LONGEST.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
      return at === -1 ? LONGEST.length : at;
    };
    return super.sort(tests).toSorted((one, other) => rank(one) - rank(other));
  }
}

module.exports = LongestFirst;
