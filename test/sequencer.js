const Sequencer = require("@jest/test-sequencer").default;

/** What takes longest, longest first. Without the times of an earlier run Jest goes by size, and would end with some of these alone. */
const LONGEST = [/endpoint\/faults/, /queues\/durability/, /engine\//, /endpoint\/fuzz/];

module.exports = class extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const place = LONGEST.findIndex((each) => each.test(path));
      return place < 0 ? LONGEST.length : place;
    };
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
};
