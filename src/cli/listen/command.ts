import { Command } from "commander";
import { DEFAULT_TOLERANCE_SECONDS } from "../../signature/tolerance";
import { openDispatcher } from "../../validation/post";
import { checkUrl, wholeNumber } from "../arguments";
import { CliError } from "../errors";
import { Output } from "../output";
import { Pulumi } from "../pulumi";
import { EXIT, endOnInterrupt, exitHelp, fail } from "../run";
import { addSecretOptions, readSecrets, type SecretFlags } from "../secrets";
import { openService } from "../service";
import { stopSignal } from "../stopSignal";
import { localReceiver, type Received, type Refused } from "./localReceiver";
import { serveLocally } from "./server";
import { TemporaryEndpoint } from "./temporaryEndpoint";

const LARGEST_PORT = 65_535;

interface Flags extends SecretFlags {
  readonly port: number;
  readonly forwardTo?: string;
  readonly register?: string;
  readonly json?: true;
}

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
    );
  return addSecretOptions(command)
    .option("--json", "print each delivery as JSON on one line, after the address")
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
  const { secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = await readSecrets(flags);
  const account =
    flags.register === undefined ? undefined : await openService({ pulumi: new Pulumi(flags.stack) });
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
  const receiver = localReceiver({
    secrets: secrets.map(({ value }) => value),
    toleranceSeconds,
    target,
    onReceived: (received) => output.record(dataOfReceived(received), lineOfReceived(received)),
    onRefused: (refused) => output.record(dataOfRefused(refused), lineOfRefused(refused)),
  });
  try {
    const server = await serveLocally(receiver, flags.port);
    try {
      if (endpoint !== undefined) {
        void stop.then(() => output.note("Stopping. To stop at once, press Ctrl-C again."));
        output.note(`Registered ${await endpoint.register()}. It is deleted when this command stops.`);
      }
      process.stdout.write(`${server.url}\n`);
      await stop;
    } finally {
      try {
        await endpoint?.remove();
      } finally {
        await server.close();
      }
    }
  } finally {
    await account?.client.close();
    await target?.dispatcher.destroy();
  }
}

/** The messages do not repeat a url, which may hold a token. @throws CliError `WRONG_USE` */
function checkFlags({ port, forwardTo, register }: Flags): void {
  if (port > LARGEST_PORT) throw new CliError("WRONG_USE", `--port must be at most ${LARGEST_PORT}`);
  if (forwardTo !== undefined) checkUrl(forwardTo, "--forward-to");
  if (register !== undefined) checkUrl(register, "--register");
}

function dataOfReceived({ event, jobId, forwarded, ...rest }: Received): object {
  const time = new Date().toISOString();
  return {
    time,
    verified: true,
    event: event ?? null,
    jobId: jobId ?? null,
    ...rest,
    forwarded: forwarded ?? null,
  };
}

function dataOfRefused({ unverifiedId, ...rest }: Refused): object {
  return { time: new Date().toISOString(), verified: false, ...rest, unverifiedId: unverifiedId ?? null };
}

function lineOfReceived({ event, jobId, id, status, forwarded }: Received): string {
  const what = `${clock()}  ${event ?? "unknown event"}  ${jobId ?? "no job"}  ${id}`;
  if (forwarded === undefined) return `${what}  verified`;
  const { failure, durationMs } = forwarded;
  const result =
    failure === null
      ? `${status} after ${durationMs} ms`
      : `${status}, because the target did not answer (${failure})`;
  return `${what}  verified, forwarded: ${result}`;
}

function lineOfRefused({ reason, status, unverifiedId }: Refused): string {
  const id = unverifiedId === undefined ? "" : `  ${unverifiedId}`;
  return `${clock()}  refused with ${status}: ${reason}${id}`;
}

/** Returns the local time of day. */
function clock(): string {
  return new Date().toTimeString().slice(0, 8);
}
