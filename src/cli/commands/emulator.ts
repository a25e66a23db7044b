import { once } from "node:events";
import { Option } from "commander";
import { type Emulator, type LoggedAttempt, startEmulator } from "../../emulator";
import { setupCommands } from "../../emulator/emulatorPage";
import { COMMAND } from "../../shared/commandLine";
import { ENDPOINT_TYPES } from "../../shared/endpointType";
import { printable } from "../../shared/escape";
import { port } from "../options";
import type { Subcommand } from "../run";

/** How often new delivery attempts are printed, in milliseconds. */
const SHOW_EVERY_MS = 100;

interface Flags {
  readonly port: number;
  readonly host?: string;
  readonly dataFile?: string;
  readonly apiKey?: string;
  readonly secret?: string;
}

const LINES_HELP = `  Enter   run a job and deliver its events to every endpoint
  rotate  add a signing secret; the old ones keep signing until you type finish
  finish  drop the old signing secrets
  help    show this list
  Ctrl-C  stop the emulator`;

export const emulator: Subcommand<Flags> = {
  summary: "run the webhook service on this machine",
  description:
    "Runs the webhook service on this machine, with a page at its address that shows endpoints and deliveries. Press Enter to run a job " +
    "and deliver its events; rotate and finish rotate the signing secret. Press Ctrl-C to stop.",
  options: [
    new Option("-p, --port <number>", "listen here; 0 for a free port").argParser(port).default(8787),
    new Option(
      "--host <address>",
      "the address to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1)",
    ),
    new Option("--data-file <path>", "keep endpoints, secrets and the API key in this file"),
    new Option("--api-key <key>", "the API key (default: of the data file, or emulator-api-key)"),
    new Option("--secret <whsec_…>", "the signing secret (default: of the data file, or a new one)"),
  ],
  examples: [
    "emulator",
    "emulator --port 9000 --data-file emulator.json",
    "emulator < /dev/null > emulator.log &",
  ],
  async run({ output, terminal, signal, endItself }, flags) {
    endItself();
    const { secret, ...options } = flags;
    const secrets = secret === undefined ? {} : { secrets: secret };
    const warn = (message: string) => output.warn(message);
    const emulator = await startEmulator({ ...options, ...secrets, warn });
    // The key and the secret open nothing but this emulator, so they are not masked.
    const print = (text: string) => output.raw(`${text}\n`);
    print(instructions(emulator, flags));
    let last: LoggedAttempt | undefined;
    const showing = setInterval(() => {
      const { deliveries } = emulator;
      // -1 when the log was cleared.
      const seen = last === undefined ? -1 : deliveries.lastIndexOf(last);
      for (const attempt of deliveries.slice(seen + 1)) print(lineOf(attempt));
      last = deliveries.at(-1);
    }, SHOW_EVERY_MS);
    terminal.onLine((line) => print(obey(emulator, line.trim())));
    if (!signal.aborted) await once(signal, "abort");
    clearInterval(showing);
    await emulator.close();
    return true;
  },
};

/** Obeys a line of input, and returns what to print. */
function obey(emulator: Emulator, line: string): string {
  switch (line) {
    case "":
      void emulator.runJob();
      return emulator.endpoints().length === 0
        ? "There is nothing to deliver to: no endpoint is registered."
        : "Running a job.";
    case "rotate":
      return `The emulator now also signs with ${emulator.rotateSecret().secret}`;
    case "finish":
      return finishRotation(emulator);
    default:
      return `The commands are:\n${LINES_HELP}`;
  }
}

/** Works without a rotation of this run too: a data file can hold one that was not finished. */
function finishRotation(emulator: Emulator): string {
  for (const type of ENDPOINT_TYPES) {
    const [secret = ""] = emulator.secrets(type);
    emulator.rotateSecret({ secret, type }).finish();
  }
  const newest = new Set(ENDPOINT_TYPES.flatMap((type) => emulator.secrets(type)));
  return `The emulator now signs only with ${[...newest].join(", ")}`;
}

function lineOf({ event, endpointId, url, status, error, retryInMs }: LoggedAttempt): string {
  const again = retryInMs === null ? "" : `, next attempt in ${Math.ceil(retryInMs / 1000)} s`;
  return printable(`${event} to ${endpointId} (${url}): ${status ?? error ?? "no response"}${again}`);
}

function instructions(emulator: Emulator, { dataFile, secret }: Flags): string {
  const hint =
    "\nEach start creates a new signing secret. To keep it and the endpoints, add --data-file emulator.json.\n";
  return `The emulated webhook service is running. Open ${emulator.url} in a browser to watch it. To use it in a stack, run:

  ${setupCommands(emulator).join("\n  ")}
${dataFile !== undefined || secret !== undefined ? "" : hint}
The url of an endpoint can be on this machine, such as http://127.0.0.1:8788/jobs of \`${COMMAND} listen\`. Commands:
${LINES_HELP}
`;
}
