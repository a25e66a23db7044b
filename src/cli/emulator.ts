import { createInterface } from "node:readline";
import { Command, InvalidArgumentError } from "commander";
import { type Emulator, type EmulatorOptions, type LoggedAttempt, startEmulator } from "../emulator";

/** How often new delivery attempts are printed, in milliseconds. */
const SHOW_EVERY_MS = 100;

interface Flags {
  readonly port: number;
  readonly dataFile?: string;
  readonly secret?: string;
  readonly latency: number;
  readonly rateLimit?: number;
}

export function emulatorCommand(): Command {
  return new Command("emulator")
    .summary("run the webhook service on this machine, to develop and test against")
    .description(
      "Starts an emulated webhook service and says how to use it. It keeps its endpoints in memory, or in a file. Each line " +
        "that it reads, such as an Enter, runs a job and delivers its events; `rotate` adds a signing secret, and `finish` " +
        "drops the old ones. Ctrl-C ends it.",
    )
    .option("-p, --port <number>", "0 takes any free port", wholeNumber, 8787)
    .option("--data-file <path>", "a JSON file that keeps the endpoints and is read again")
    .option("--secret <whsec_…>", "what it signs with (default: a new one at each start)")
    .option("--latency <milliseconds>", "of each request", wholeNumber, 0)
    .option("--rate-limit <number>", "requests a second; more are answered 429", wholeNumber)
    .addHelpText(
      "after",
      `
Exit status:
  0  it was ended
  1  it could not be started

Examples:
  $ npx webhook-endpoints emulator
  $ npx webhook-endpoints emulator --port 9000 --data-file endpoints.json --secret "$SIGNING_SECRET"`,
    )
    .action(async (flags: Flags) => {
      const emulator = await startEmulator(optionsOf(flags));
      console.log(instructions(emulator));
      const showing = setInterval(() => show(emulator), SHOW_EVERY_MS);
      const lines = createInterface(process.stdin);
      const commands = commandsOf(emulator);
      lines.on("line", (line) => (commands[line.trim()] ?? commands[""])?.());
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
        process.once(signal, () => {
          clearInterval(showing);
          lines.close();
          process.stdin.destroy();
          void emulator.close();
        });
    });
}

/** What is done for a line, by its text. */
function commandsOf(emulator: Emulator): Record<string, () => void> {
  let rotation: ReturnType<Emulator["rotateSecret"]> | undefined;
  return {
    "": () => {
      if (emulator.endpoints().length === 0) console.log("No endpoint is registered.");
      void emulator.runJob();
    },
    rotate: () => {
      rotation = emulator.rotateSecret();
      console.log(`It signs with ${rotation.secret} too.`);
    },
    finish: () => {
      rotation?.finish();
      console.log(`It signs with ${emulator.secrets().join(", ")}.`);
    },
  };
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

function optionsOf({ port, dataFile, secret, latency, rateLimit }: Flags): EmulatorOptions {
  return {
    port,
    latencyMs: latency,
    ...(dataFile === undefined ? {} : { dataFile }),
    ...(secret === undefined ? {} : { secrets: secret }),
    ...(rateLimit === undefined ? {} : { rateLimit: { requestsPerSecond: rateLimit } }),
  };
}

/** Its key and its secret open nothing but this emulator, so they may be shown. */
function instructions({ url, apiKey, secrets }: Emulator): string {
  return `An emulated webhook service listens at ${url}. For a stack that is to use it:

  pulumi config set webhooks:baseUrl ${url}
  pulumi config set --secret webhooks:apiKey ${apiKey}
  pulumi config set --secret signingSecret ${secrets()[0] ?? ""}

Its endpoints can be on this machine: url http://127.0.0.1:8080/jobs and type development, for a receiver at port 8080. Enter
runs a job and delivers its events, rotate and finish change the signing secret, Ctrl-C ends it.`;
}

/** What was delivered since it was last shown. */
function show(emulator: Emulator): void {
  for (const attempt of emulator.deliveries) console.log(describe(attempt));
  emulator.clearDeliveries();
}

function describe({ type, endpointId, url, statusCode, error, retryInMs }: LoggedAttempt): string {
  const again = retryInMs === null ? "" : `, again in ${Math.ceil(retryInMs / 1000)} s`;
  return `${type} to ${endpointId} (${url}): ${statusCode ?? error ?? "no answer"}${again}`;
}
