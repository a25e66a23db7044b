/** The folders of `test` that `npm run test:fast` runs: neither the network nor Pulumi's command, and about a minute on two cores. */
const FAST = [
  ...["cli", "client", "emulator", "page", "plugin", "program"],
  ...["provider", "receiver", "shared", "signature", "stack", "validation"],
];
/** The files in them that need Pulumi's command, or more than ten seconds on a quiet machine. */
const SLOW = ["provider/fuzz", "provider/recovery", "stack/fromStack"];

/** @type {import("jest").Config} */
const common = {
  rootDir: __dirname,
  setupFiles: ["<rootDir>/test/environment.ts"],
  transform: { "^.+\\.ts$": ["@swc/jest", { jsc: { target: "es2022", parser: { syntax: "typescript" } } }] },
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/examples/", "<rootDir>/.cache/"],
};
const never = ["/node_modules/", "/fixtures/"];
const slow = `(?:${SLOW.join("|")})\\.test\\.ts$`;

/** @type {import("jest").Config} */
module.exports = {
  projects: [
    {
      ...common,
      displayName: "fast",
      testMatch: FAST.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
      testPathIgnorePatterns: [...never, `/test/${slow}`],
    },
    {
      ...common,
      displayName: "rest",
      testMatch: ["<rootDir>/test/**/*.test.ts"],
      testPathIgnorePatterns: [...never, `/test/(?!${slow})(?:${FAST.join("|")})/`],
    },
  ],
  testSequencer: "<rootDir>/test/sequencer.js",
  reporters: ["default", "<rootDir>/test/notRun.js"],
  // For two cores: nearly half of the tests' time is waiting, for a service or for a time-out.
  maxWorkers: 4,
  // For what hangs: no test measures time, and a busy machine may stand still for long.
  testTimeout: 120_000,
};
