/**
 * The rooms that are mutated: their folders, the tests that run in this process, and the least score.
 * A test that starts the built package never meets a mutant, and the fuzz tests would run for each of them.
 */
module.exports = {
  signature: {
    folder: "src/signature",
    tests: ["signature/{verify,headers,secret}.test.ts"],
    least: 95,
  },
  settlement: {
    folder: "src/settlement",
    tests: [
      "settlement/*.test.ts",
      "cli/{recover*,doctor,settledOperations,pruneByBook,exportState}.test.ts",
    ],
    least: 95,
  },
  client: { folder: "src/client", tests: ["client/*.test.ts"], least: 90 },
  provider: { folder: "src/endpoint", tests: ["settlement/*.test.ts"], least: 90 },
  receiver: {
    folder: "src/receiver",
    tests: [
      "receiver/!(readme).test.ts", // that starts Redis
      "receiver/{dedupe,queues}/*.test.ts",
      "receiver/adapters/{node,fetch,lambda}.test.ts",
    ],
    least: 90,
  },
};
