// Compares the time and the state that the real engine needs for endpoints: with this package, with the dynamic provider that a user
// would write, with the shortest one that works, and with the cheapest resource possible. Only the ratios of one run mean something.

const { startEmulator } = require("../dist/emulator");
const { keep, verdict } = require("./measure");
const programs = require("./engine/programs");
const { Stack } = require("./engine/stack");

const STEPS = { up: ["up"], "no-op up": ["up"], refresh: ["refresh"], destroy: ["destroy"] };
/** The limit for the state, as a multiple of the state without the provider's code. */
const MOST_STATE = 1.2;
/** The limit for the inputs and outputs of a native endpoint, in bytes. */
const MOST_NATIVE_BYTES = 600;
/** The limit for the time of all four commands at this size, as a multiple of the time by value. */
const MOST_TIME = { count: 200, ratio: 0.6 };

async function main() {
  const given = process.argv.indexOf("--sizes");
  const sizes = given < 0 ? [10, 100, 200, 500] : process.argv[given + 1].split(",").map(Number);
  for (const count of sizes) await compare(count);
}

async function compare(count) {
  const results = {};
  for (const name of Object.keys(programs)) results[name] = await measure(programs[name], count);

  const names = Object.keys(programs);
  console.log(`${count} endpoints, in seconds (in brackets: the time of ours divided by this time)`);
  for (const step of [...Object.keys(STEPS), "all four"]) {
    const own = results.ours.seconds[step];
    const columns = names.map((name) => {
      const time = results[name].seconds[step];
      const ratio = name === "ours" ? "" : ` (${(own / time).toFixed(2)})`;
      return `${name} ${time.toFixed(1).padStart(6)}${ratio}`;
    });
    console.log(`  ${step.padEnd(10)} ${columns.join("   ")}`);
  }
  const { bytes, withoutCode } = results.ours.state;
  const states = Object.entries(results).map(([name, { state }]) => `${name} ${Math.round(state.bytes)}`);
  console.log(`  state, in bytes for each endpoint: ${states.join(", ")}`);
  const ratio = bytes / withoutCode;
  console.log(
    `  state ${ratio.toFixed(3)} times the state without __provider; the limit is ${MOST_STATE}: ${verdict(ratio <= MOST_STATE)}`,
  );
  const { properties } = results.native.state;
  console.log(
    `  native: inputs and outputs ${Math.round(properties)} bytes; the limit is ${MOST_NATIVE_BYTES}: ${verdict(properties < MOST_NATIVE_BYTES)}`,
  );
  if (count === MOST_TIME.count) {
    keep(results);
    const time = results.ours.seconds["all four"] / results["by value"].seconds["all four"];
    console.log(
      `  time ${time.toFixed(2)} times that of by value; the limit is ${MOST_TIME.ratio}: ${verdict(time <= MOST_TIME.ratio)}`,
    );
  }
  console.log("");
}

async function measure(program, count) {
  const emulator = await startEmulator();
  const stack = new Stack({ program, count, emulator });
  try {
    await stack.pulumi("stack", "init", "bench");
    const seconds = { "all four": 0 };
    let state;
    for (const [step, args] of Object.entries(STEPS)) {
      seconds[step] = await stack.time(...args);
      seconds["all four"] += seconds[step];
      if (step === "up") state = await stack.stateBytes();
    }
    return { seconds, state };
  } finally {
    stack.remove();
    await emulator.close();
  }
}

void main();
