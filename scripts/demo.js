// Plays the whole story on this machine: the real Pulumi CLI creates, checks and destroys endpoints at an emulated service, and
// a receiver verifies their deliveries. It leaves nothing behind, even after Ctrl-C.

const { startEmulator } = require("../dist/emulator");
const { DemoReceiver, Narrator } = require("./demo/parts");
const { Project } = require("./demo/project");
const { tellStory } = require("./demo/story");

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };
/** The signal that ends a command whose reader has gone, as in `npm run demo | head`. */
const SIGPIPE = 13;

async function main() {
  const started = Date.now();
  const emulator = await startEmulator();
  const narrator = new Narrator();
  const receiver = new DemoReceiver();
  let stopping;
  let project;
  const stop = (number) => {
    if (stopping !== undefined) return;
    process.exitCode = 128 + number;
    if (number !== SIGPIPE) console.log("\nStopping. Nothing will be left behind.");
    narrator.end();
    // The story waits for these two, so it ends with them, before its folder is removed.
    stopping = project.stop().then(() => emulator.close());
  };
  // Set up before there is a folder that could be left behind.
  for (const [signal, number] of Object.entries(SIGNALS)) process.on(signal, () => stop(number));
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => stop(SIGPIPE));

  project = new Project({
    settings: { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey },
    quote: (line) => narrator.quote(line),
  });

  project.shareEnvironment();

  try {
    await tellStory({ emulator, project, receiver, narrator });
  } catch (error) {
    if (stopping === undefined) {
      console.error(`\ndemo: ${error.message}`);
      process.exitCode = 1;
    }
  }
  await stopping;
  await receiver.close();
  await emulator.close();
  project.remove();
  if (!process.exitCode) {
    const seconds = Math.round((Date.now() - started) / 1000);
    console.log(`\nDone in ${seconds} s. No process and no file is left behind.`);
    console.log('To do the same in your own project, follow "Quick start" in README.md.');
  }
  process.exit();
}

main().catch((error) => {
  console.error(`demo: ${error.message}`);
  process.exit(1);
});
