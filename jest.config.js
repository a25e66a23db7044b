/** @type {import("jest").Config} */
module.exports = {
  setupFiles: ["<rootDir>/test/environment.ts"],
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  transform: { "^.+\\.ts$": ["@swc/jest", { jsc: { target: "es2022", parser: { syntax: "typescript" } } }] },
  testPathIgnorePatterns: ["/node_modules/", "/fixtures/"],
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/examples/", "<rootDir>/.cache/"],
  // For two cores: a third of the tests' time is waiting, for a service or for a time-out.
  maxWorkers: 3,
  // For what hangs: no test measures time, and a busy machine may stand still for long.
  testTimeout: 120_000,
};
