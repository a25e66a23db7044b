/** @type {import("jest").Config} */
module.exports = {
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  transform: { "^.+\\.ts$": ["@swc/jest", { jsc: { target: "es2022", parser: { syntax: "typescript" } } }] },
  testPathIgnorePatterns: ["/node_modules/", "/fixtures/"],
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/examples/", "<rootDir>/.cache/"],
  maxWorkers: 2,
  testTimeout: 30_000,
};
