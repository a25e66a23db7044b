/** What `npm test` leaves to commands of their own, and why. */
const NOT_RUN = {
  fuzz: "ten thousand random steps against the provider, and a million mutated messages",
  kills: "a kill of a real `up` at each of its requests, in every way",
  signatures: "signatures of seven libraries of other people",
  durability: "deliveries through each queue while workers are killed, at length",
  bench: "the benchmarks",
  rehearse: "the rehearsal of a release",
  check: "format, lint, types, dead code, the site",
};

/** Says at the end of a run of all tests, or of all fast ones, what it did not run. */
class NotRun {
  constructor({ testPathPatterns, testNamePattern, onlyChanged }) {
    this.isWhole = testPathPatterns.patterns.length === 0 && !testNamePattern && !onlyChanged;
  }

  onRunComplete(contexts) {
    if (!this.isWhole) return;
    const rest = [...contexts].some(({ config }) => config.displayName?.name === "rest");
    const lines = rest
      ? Object.entries(NOT_RUN).map(([name, what]) => `  npm run ${name.padEnd(10)}  ${what}`)
      : ["  npm test            the command Pulumi, other people's packages, what users install, slow tests"];
    process.stderr.write(`\nThis did not run:\n${lines.join("\n")}\n`);
  }
}

module.exports = NotRun;
