// What `scripts/mutate.js` runs Stryker with. MUTATE_ROOM names the room.

const { join, relative } = require("node:path");

const root = join(__dirname, "../..");
const { MUTATE_ROOM: room } = process.env;
const { files, tests } = require("./rooms")[room];

module.exports = {
  plugins: [join(__dirname, "node_modules/@stryker-mutator/jest-runner/dist/src/index.js")],
  testRunner: "jest",
  jest: {
    configFile: "jest.config.js",
    config: { testMatch: tests.map((pattern) => `<rootDir>/test/${pattern}`), maxWorkers: 1 },
  },
  coverageAnalysis: "perTest",
  mutate: files,
  // Runs once, when its file is loaded: no test could be told that it is to kill it.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 10_000,
  tempDirName: ".cache/stryker",
  ignorePatterns: ["/test/*/node_modules", "/bench", "/site", "/.cache", "/examples"],
  reporters: ["json", "clear-text", "progress-append-only"],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false, reportScoreTable: false },
  jsonReporter: { fileName: relative(root, join(root, ".cache/mutation", `${room}.json`)) },
};
