/**
 * The rooms that are mutated: their files, the tests that run in this process, and the least score.
 * A test that starts the built package never meets a mutant, and the fuzz tests would run for each of them.
 */
module.exports = {
  signature: {
    files: ["src/signature/**/*.ts"],
    tests: ["signature/{verify,headers,secret}.test.ts"],
    least: 95,
  },
  settlement: { files: ["src/settlement/**/*.ts"], tests: ["settlement/*.test.ts"], least: 95 },
  client: { files: ["src/client/**/*.ts"], tests: ["client/*.test.ts"], least: 90 },
  provider: { files: ["src/endpoint/**/*.ts"], tests: ["settlement/*.test.ts"], least: 90 },
  receiver: {
    files: ["src/receiver/**/*.ts"],
    tests: [
      "receiver/*.test.ts",
      "receiver/{dedupe,queues}/*.test.ts",
      "receiver/adapters/{node,fetch,lambda}.test.ts",
    ],
    least: 90,
  },
};
