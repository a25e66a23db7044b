// Counts the endpoints that are left when something goes wrong: with this package, and with the shortest dynamic provider that works.
// There should be as many as the program declares.

const { startEmulator } = require("../dist/emulator");
const { keep, verdict } = require("./measure");
const programs = require("./engine/programs");
const { Stack } = require("./engine/stack");

const COUNT = 10;
/** How many responses are lost, and how many endpoints there are when the run is killed. */
const LOST = 3;
const MADE = 5;

const MISHAPS = {
  [`${LOST} responses to registrations are lost`]: async (stack, emulator) => {
    emulator.fault({ operation: "register", kind: "reset-after", times: LOST });
    await stack.time("up").catch(() => undefined);
  },
  "`pulumi up` is killed halfway": async (stack, emulator) => {
    await stack.killed(() => emulator.endpoints().length >= MADE, "up");
    await stack.pulumi("cancel", "--yes");
  },
};

async function main() {
  console.log(`${COUNT} endpoints, and how many there are after a mishap and another \`pulumi up\``);
  const left = {};
  for (const [mishap, happen] of Object.entries(MISHAPS)) {
    const ours = await endpointsAfter(happen, programs.ours);
    const barest = await endpointsAfter(happen, programs.barest);
    left[mishap] = { ours, barest };
    console.log(`  ${mishap}: ours ${ours}, barest ${barest}: ${verdict(ours === COUNT)}`);
  }
  keep(left);
  console.log("");
}

async function endpointsAfter(happen, program) {
  const emulator = await startEmulator();
  const stack = new Stack({ program, count: COUNT, emulator });
  try {
    await stack.pulumi("stack", "init", "bench");
    await happen(stack, emulator);
    await stack.time("up");
    return emulator.endpoints().length;
  } finally {
    stack.remove();
    await emulator.close();
  }
}

void main();
