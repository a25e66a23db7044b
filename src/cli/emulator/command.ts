import { createInterface } from "node:readline";
import { Command } from "commander";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator";
import { quoted } from "../../shared/words";
import { portNumber, wholeNumber } from "../arguments";
import { EXIT, exitHelp } from "../oldRun";
import { printable } from "../printable";
import { stopSignal } from "../stopSignal";
import { LINES_HELP, lineHandler, newAttempts } from "./console";

/** How often new delivery attempts are printed, in milliseconds. */
const SHOW_EVERY_MS = 100;

interface Flags {
  readonly port: number;
  readonly dataFile?: string;
  readonly apiKey?: string;
  readonly secret?: string;
  readonly latency: number;
  readonly rateLimit?: number;
  readonly allowedHost?: readonly string[];
}

export function emulatorCommand(): Command {
  return new Command("emulator")
    .summary("run the webhook service on this machine, to develop and test against")
    .description(
      "Starts an emulated webhook service and prints how to use it. A page at its address shows endpoints and deliveries. " +
        "Endpoints are kept in memory, or in a file. Press Enter to run a job and deliver its events. Type `rotate` to add a " +
        "signing secret, and `finish` to drop the old ones. Press Ctrl-C to stop.",
    )
    .option("-p, --port <number>", "the port to listen on; 0 chooses a free one", portNumber, 8787)
    .option(
      "--data-file <path>",
      "a JSON file that keeps endpoints, signing secrets and the API key across restarts",
    )
    .option("--api-key <key>", 'the API key (default: from the data file, or "emulator-api-key")')
    .option("--secret <whsec_…>", "the signing secret (default: from the data file, or a new one)")
    .option("--latency <milliseconds>", "how long to delay each API response", wholeNumber, 0)
    .option(
      "--rate-limit <number>",
      "how many API requests per second to accept; any more get 429",
      wholeNumber,
    )
    .option(
      "--allowed-host <name...>",
      "more host names to answer at, such as that of a proxy on this machine",
    )
    .addHelpText(
      "after",
      `
Commands while it runs, one on each line:
${LINES_HELP}
${exitHelp({
  [EXIT.yes]: "it was stopped, with Ctrl-C too",
  [EXIT.no]: "it could not start, or could not write its data file",
})}
Examples:
  $ npx pulumi-webhook-endpoints emulator
  $ npx pulumi-webhook-endpoints emulator --port 9000 --data-file emulator.json
  $ nohup npx pulumi-webhook-endpoints emulator < /dev/null > emulator.log &`,
    )
    .action(async (flags: Flags) => {
      const stop = stopSignal();
      // The service goes on when the reader of its output has gone.
      for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
      const emulator = await startEmulator(optionsOf(flags));
      console.log(instructions(emulator, flags));
      const attempts = newAttempts(emulator);
      const showing = setInterval(() => {
        for (const line of attempts()) console.log(line);
      }, SHOW_EVERY_MS);
      const stopReading = readLines(lineHandler(emulator));
      await stop;
      clearInterval(showing);
      stopReading();
      await emulator.close();
    });
}

/** Prints the answer to each line of input. At the end of the input, or without any, the emulator keeps running. */
function readLines(answer: (line: string) => string): () => void {
  const lines = createInterface(process.stdin);
  lines.on("error", () => undefined);
  lines.on("line", (line) => console.log(answer(line)));
  return () => {
    lines.close();
    process.stdin.destroy();
  };
}

function optionsOf({
  port,
  dataFile,
  apiKey,
  secret,
  latency,
  rateLimit,
  allowedHost,
}: Flags): EmulatorOptions {
  return {
    port,
    latencyMs: latency,
    warn: (message) => console.error(`warning: ${printable(message)}`),
    ...(allowedHost === undefined ? {} : { allowedHosts: allowedHost }),
    ...(dataFile === undefined ? {} : { dataFile }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(secret === undefined ? {} : { secrets: secret }),
    ...(rateLimit === undefined ? {} : { rateLimit: { requestsPerSecond: rateLimit } }),
  };
}

/** The key and the secret open nothing but this emulator, so they may be printed. */
function instructions({ url, apiKey, secrets }: Emulator, { dataFile, secret }: Flags): string {
  const lasting = dataFile !== undefined || secret !== undefined;
  return `The emulated webhook service is running. Open ${url} in a browser to watch it. To use it in a stack, run:

  pulumi config set webhooks:baseUrl ${quoted(url)}
  pulumi config set --secret webhooks:apiKey ${quoted(apiKey)}
  pulumi config set --secret signingSecret ${secrets()[0] ?? ""}
${lasting ? "" : "\nEach start creates a new signing secret. To keep the secret and the endpoints, add --data-file emulator.json.\n"}
The url of an endpoint can be on this machine, such as http://127.0.0.1:8080/jobs with the type development. Commands:
${LINES_HELP}
`;
}
