import { createInterface } from "node:readline";
import { Command, InvalidArgumentError } from "commander";
import { type Emulator, type EmulatorOptions, type Job, startEmulator } from "../emulator";

interface Flags {
  readonly port: number;
  readonly dataFile?: string;
  readonly latency: number;
  readonly rateLimit?: number;
}

export function emulatorCommand(): Command {
  return new Command("emulator")
    .summary("run the webhook service on this machine, to develop and test against")
    .description(
      "Starts an emulated webhook service and says how to use it. It keeps its endpoints in memory, or in a file. Each line " +
        "that it reads, such as an Enter, runs a job and delivers its events. Ctrl-C ends it.",
    )
    .option("-p, --port <number>", "0 takes any free port", wholeNumber, 8787)
    .option("--data-file <path>", "a JSON file that keeps the endpoints and is read again")
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
  $ npx webhook-endpoints emulator --port 9000 --data-file endpoints.json`,
    )
    .action(async (flags: Flags) => {
      const emulator = await startEmulator(optionsOf(flags));
      console.log(instructions(emulator));
      const lines = createInterface(process.stdin);
      lines.on("line", async () => console.log(describe(await emulator.runJob())));
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
        process.once(signal, () => {
          lines.close();
          process.stdin.destroy();
          void emulator.close();
        });
    });
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

function optionsOf({ port, dataFile, latency, rateLimit }: Flags): EmulatorOptions {
  return {
    port,
    latencyMs: latency,
    ...(dataFile === undefined ? {} : { dataFile }),
    ...(rateLimit === undefined ? {} : { rateLimit: { requestsPerSecond: rateLimit } }),
  };
}

/** Its key and its secret open nothing but this emulator, so they may be shown. */
function instructions({ url, apiKey, secrets }: Emulator): string {
  return `An emulated webhook service listens at ${url}. For a stack that is to use it:

  pulumi config set webhooks:baseUrl ${url}
  pulumi config set --secret webhooks:apiKey ${apiKey}
  pulumi config set --secret signingSecret ${secrets()[0] ?? ""}

Enter runs a job and delivers its events. Ctrl-C ends it.`;
}

function describe({ jobId, running, finished }: Job): string {
  const lines = [running, finished].flatMap(({ type, endpoints }) =>
    endpoints.map(
      ({ endpointId, outcome, statusCode }) =>
        `  ${type} to ${endpointId}: ${outcome} (${statusCode ?? "no answer"})`,
    ),
  );
  return [`${jobId}${lines.length === 0 ? ": no endpoint is registered" : ""}`, ...lines].join("\n");
}
