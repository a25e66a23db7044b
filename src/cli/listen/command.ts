import { Command } from "commander";
import { DEFAULT_TOLERANCE_SECONDS } from "../../signature/tolerance";
import { openDispatcher } from "../../validation/post";
import { checkUrl, wholeNumber } from "../arguments";
import { CliError } from "../errors";
import { checkEventName } from "../eventName";
import { Output } from "../output";
import { Pulumi } from "../pulumi";
import { EXIT, endOnInterrupt, exitHelp, fail } from "../run";
import { addSecretOptions, readSecrets, type SecretFlags } from "../secrets";
import { openService } from "../service";
import { stopSignal } from "../stopSignal";
import { TemporaryEndpoint } from "../temporaryEndpoint";
import { CaptureFolder } from "./captureFolder";
import { localReceiver } from "./localReceiver";
import { Reporter } from "./reporter";
import { CLOSING_MS, type LocalServer, serveLocally } from "./server";

const LARGEST_PORT = 65_535;

interface Flags extends SecretFlags {
  readonly port: number;
  readonly forwardTo?: string;
  readonly register?: string;
  readonly events?: readonly string[];
  readonly anyEvent?: boolean;
  readonly save?: string;
  readonly print?: boolean;
  readonly json?: true;
}

const AGAIN = "To stop at once, press Ctrl-C again.";

export function listenCommand(): Command {
  const command = new Command("listen")
    .summary("show the deliveries that arrive on this machine, and forward them")
    .description(
      "Runs a receiver on this machine. Prints its address, then each delivery that verifies, and each request that it refuses with " +
        "the reason. It takes any path. Verified deliveries can be forwarded to a program that you develop, which verifies them again. " +
        "Press Ctrl-C to stop.",
    )
    .option("-p, --port <number>", "the port to listen on; 0 chooses a free one", wholeNumber, 0)
    .option(
      "--forward-to <url>",
      "send each verified delivery on, byte for byte, and answer what this url answers",
    )
    .option(
      "--register <url>",
      "register a development endpoint with this url, which must lead here, and delete it at the end",
    )
    .option(
      "--events <names>",
      "show and forward only these events, such as job.succeeded,job.failed",
      (names: string) => names.split(",").map((name) => name.trim()),
    )
    .option("--any-event", "take names of events that the service does not have")
    .option("--print", "show the headers and the body of each delivery")
    .option("--save <folder>", "write each delivery to a file, for `verify --capture` and `send --capture`");
  return addSecretOptions(command)
    .option("--json", "print the address and each delivery as JSON, one line each")
    .addHelpText(
      "after",
      `${exitHelp({
        [EXIT.yes]: "it was stopped, with Ctrl-C too, and no endpoint is left",
        [EXIT.no]: "it could not start, or could not delete the endpoint",
        [EXIT.interrupted]: "Ctrl-C before it listened, or a second one while it deleted the endpoint",
      })}
Examples:
  $ npx webhook-endpoints listen --port 8080 --secret-env WEBHOOK_SECRET
  $ npx webhook-endpoints listen --port 8080 --stack dev --forward-to http://127.0.0.1:3000/jobs
  $ npx webhook-endpoints listen --port 8080 --stack dev --save captures --events job.failed
  $ npx webhook-endpoints listen --port 8080 --stack dev --register https://my-tunnel.example.com/jobs`,
    )
    .action(listen);
}

async function listen(flags: Flags): Promise<void> {
  const output = new Output({ json: flags.json });
  // The receiver goes on when the reader of its output has gone.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const release = endOnInterrupt();
  checkFlags(flags);
  const { secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = await output.during(
    () => "Reading the signing secrets…",
    readSecrets(flags),
  );
  const account =
    flags.register === undefined
      ? undefined
      : await output.during(
          () => "Reading the stack's settings…",
          openService({ pulumi: new Pulumi(flags.stack) }),
        );
  const folder =
    flags.save === undefined ? undefined : await CaptureFolder.open(flags.save, (text) => output.warn(text));
  release();

  const endpoint =
    account &&
    new TemporaryEndpoint({ account, url: flags.register ?? "", note: (text) => output.note(text) });
  const stop = stopSignal({
    again: () => {
      const left = endpoint?.leftover ?? "nothing is left";
      fail(new CliError("INTERRUPTED", `a second signal ended the command at once: ${left}`));
      process.exit(EXIT.interrupted);
    },
  });
  const target =
    flags.forwardTo === undefined
      ? undefined
      : { url: flags.forwardTo, dispatcher: openDispatcher(flags.forwardTo) };
  const reporter = new Reporter({ output, isPrinting: flags.print === true, folder });
  const receiver = localReceiver({
    secrets: secrets.map(({ value }) => value),
    toleranceSeconds,
    target,
    events: flags.events && new Set(flags.events),
    onReceived: (received, request) => reporter.received(received, request),
    onRefused: (refused, request) => reporter.refused(refused, request),
  });
  try {
    const server = await serveLocally(receiver, flags.port);
    void stop.then(() => sayWhatIsLeft({ output, endpoint, server }));
    try {
      if (endpoint !== undefined)
        output.note(
          `Registered ${await output.during(() => "Registering the endpoint…", endpoint.register())}. It is deleted when this command stops.`,
        );
      output.record({ url: server.url }, server.url);
      await stop;
    } finally {
      try {
        await endpoint?.remove();
      } finally {
        await server.close();
        await reporter.settled;
      }
    }
  } finally {
    await account?.client.close();
    await target?.dispatcher.destroy();
  }
}

interface Stopping {
  readonly output: Output;
  readonly endpoint: TemporaryEndpoint | undefined;
  readonly server: LocalServer;
}

/** Says why the command does not stop at once. If it has only prepared a registration, it does. */
function sayWhatIsLeft({ output, endpoint, server }: Stopping): void {
  if (endpoint !== undefined && endpoint.leftover === undefined) {
    output.note("Stopped before anything was registered.");
    process.exit(EXIT.yes);
  }
  const waiting = server.inProgress();
  if (endpoint !== undefined) output.note(`Stopping. The endpoint is deleted first. ${AGAIN}`);
  else if (waiting > 0)
    output.note(
      `Stopping. Waiting up to ${CLOSING_MS / 1000} s for ${waiting} deliveries under way. ${AGAIN}`,
    );
}

/** The messages do not repeat a url, which may hold a token. @throws CliError `WRONG_USE` */
function checkFlags({ port, forwardTo, register, events = [], anyEvent = false }: Flags): void {
  if (port > LARGEST_PORT) throw new CliError("WRONG_USE", `--port must be at most ${LARGEST_PORT}`);
  if (forwardTo !== undefined) checkUrl(forwardTo, "--forward-to");
  if (register !== undefined) checkUrl(register, "--register");
  for (const event of events) checkEventName(event, { any: anyEvent });
}
