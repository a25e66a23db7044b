import { Command, Option } from "commander";
import { isLoopback } from "../../shared/url";
import { checkEndpointUrl, checkEventName, checkUrl, portNumber } from "../arguments";
import { CliError } from "../errors";
import { EXIT, withUsage } from "../run";
import { addSecretOptions } from "../secrets/secrets";
import { type ListenFlags, listen } from "./listen";

export function listenCommand(): Command {
  const command = new Command("listen")
    .summary("show the deliveries that arrive on this machine, and forward them")
    .description(
      "Runs a receiver on this machine. Prints its address, then each delivery that verifies, and each request that it refuses with " +
        "the reason. It takes any path. Verified deliveries can be forwarded to a program that you develop, which verifies them again. " +
        "Press Ctrl-C to stop.",
    )
    .option("-p, --port <number>", "the port to listen on; 0 chooses a free one", portNumber, 0)
    .option(
      "--forward-to <url>",
      "send each verified delivery on, byte for byte, and answer what this url answers",
    )
    .option(
      "--register <url>",
      "register a development endpoint with this url, which must lead here, and delete it at the end",
    )
    .addOption(
      new Option(
        "--events <names>",
        "show and forward only these events, such as job.succeeded,job.failed; repeatable",
      )
        .argParser((names: string, before: readonly string[]) => [
          ...before,
          ...names.split(",").map((name) => name.trim()),
        ])
        .default([], "all"),
    )
    .option("--any-event", "take names of events that the service does not have")
    .option(
      "--page [port]",
      "show the deliveries on a page for a browser on this machine, too (default: at a free port)",
      portNumber,
    )
    .option("--print", "show the headers and the body of each delivery")
    .option("--save <folder>", "write each delivery to a file, for `verify --capture` and `send --capture`");
  addSecretOptions(command).option("--json", "print the address and each delivery as JSON, one line each");
  return withUsage(command, {
    exit: {
      [EXIT.yes]: "it was stopped, with Ctrl-C too, and no endpoint is left",
      [EXIT.no]: "it could not start, or could not delete the endpoint",
      [EXIT.interrupted]: "Ctrl-C before it listened, or a second one while it deleted the endpoint",
    },
    examples: [
      "listen --port 8080 --secret-env WEBHOOK_SECRET",
      "listen --port 8080 --stack dev --forward-to http://127.0.0.1:3000/jobs --page",
      "listen --port 8080 --stack dev --save captures --events job.failed",
      "listen --port 8080 --stack dev --register https://my-tunnel.example.com/jobs",
    ],
  }).action(async (flags: ListenFlags) => {
    checkFlags(flags);
    await listen(flags);
  });
}

/** The messages do not repeat a url, which may hold a token. @throws CliError `WRONG_USE` */
function checkFlags({ port, forwardTo, register, events, anyEvent = false }: ListenFlags): void {
  if (forwardTo !== undefined) {
    checkUrl(forwardTo, "--forward-to");
    const target = new URL(forwardTo);
    if (isLoopback(target.hostname) && Number(target.port) === port && port > 0)
      throw new CliError(
        "WRONG_USE",
        "--forward-to has the port of --port: the command would forward to itself",
      );
  }
  if (register !== undefined) checkEndpointUrl(register, "--register");
  if (anyEvent && events.length === 0)
    throw new CliError("WRONG_USE", "--any-event is for the names of --events");
  for (const event of events) checkEventName(event, { any: anyEvent });
}
