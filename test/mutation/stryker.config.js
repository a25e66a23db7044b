// What `scripts/mutate.js` runs Stryker with. MUTATE_ROOM names the room, MUTATE_EVERY and MUTATE_FIRST its lines.

const { readdirSync, readFileSync } = require("node:fs");
const { join, relative } = require("node:path");

const root = join(__dirname, "../..");
const { MUTATE_ROOM: room, MUTATE_EVERY: every = "1", MUTATE_FIRST: first = "0" } = process.env;
const { folder, tests } = require("./rooms")[room];

/** Returns the lines to mutate, counted through all files of the room, as Stryker spells them. */
function linesOfRoom() {
  let before = 0;
  return readdirSync(join(root, folder), { recursive: true })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const lines = readFileSync(join(root, folder, file), "utf8").split("\n");
      const start = before;
      before += lines.length;
      return lines.flatMap((text, index) =>
        (start + index) % Number(every) === Number(first)
          ? [`${folder}/${file}:${index + 1}:0-${index + 1}:${text.length}`]
          : [],
      );
    });
}

module.exports = {
  plugins: [join(__dirname, "node_modules/@stryker-mutator/jest-runner/dist/src/index.js")],
  testRunner: "jest",
  jest: {
    configFile: "jest.config.js",
    config: { testMatch: tests.map((pattern) => `<rootDir>/test/${pattern}`), maxWorkers: 1 },
  },
  coverageAnalysis: "perTest",
  mutate: every === "1" ? [`${folder}/**/*.ts`] : linesOfRoom(),
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
