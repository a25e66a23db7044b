import { once } from "node:events";
import { Option } from "commander";
import { isLoopback } from "../../../shared/url";
import { CliError } from "../../errors";
import { httpUrl, jsonOption, port, stackOption } from "../../options";
import type { Context, Subcommand } from "../../run";
import { describeSecrets, findSecrets, type SigningSecrets } from "../../secrets";
import { startPage } from "./page";
import { reporter } from "./report";
import { type Arrival, forward, startServer } from "./server";

/** Beside the emulator's. */
const DEFAULT_PORT = 8788;

interface Flags {
  readonly port: number;
  readonly forwardTo?: string;
  readonly save?: string;
  /** True without a number. */
  readonly page?: number | true;
}

export const listen: Subcommand<Flags> = {
  summary: "show the deliveries that arrive on this machine, and forward them",
  description:
    "Receives deliveries on this machine, at every path, and shows each in a line. With a signing secret, it verifies them, and responds " +
    "with 401 to those that it refuses. Press Enter to forward the last one again, and Ctrl-C to stop.",
  options: [
    new Option("-p, --port <number>", "listen here; 0 for a free port").argParser(port).default(DEFAULT_PORT),
    new Option(
      "--forward-to <url>",
      "send what is not refused on, byte for byte, and respond the same",
    ).argParser(httpUrl),
    new Option("--save <folder>", "write each delivery to a file, for verify and send --capture"),
    new Option("--page [port]", "show the deliveries on a page, too (default: a free port)").argParser(port),
    stackOption(),
    jsonOption(),
  ],
  examples: [
    "listen",
    "listen --forward-to http://127.0.0.1:3000/jobs --page",
    "listen --stack dev --save captures --json",
  ],
  async run(context, flags) {
    const { forwardTo: target } = flags;
    const { output, terminal, signal, endItself } = context;
    if (target !== undefined) checkTarget(target, flags.port);
    const signing = await secretsFor(context);
    endItself();
    const stopped = once(signal, "abort");
    const report = reporter(output, flags.save);
    let last: Arrival | undefined;
    const onArrival = (arrival: Arrival) => {
      if (!arrival.summary.isRefused) last = arrival;
      report(arrival);
      page?.add(arrival);
    };
    const replay =
      target === undefined
        ? undefined
        : async (arrival: Arrival) => {
            const forwarded = await forward(arrival, target);
            onArrival({ ...arrival, at: new Date(), forwarded, isReplay: true });
          };
    const pagePort = flags.page === true ? 0 : flags.page;
    const page = pagePort === undefined ? undefined : await startPage({ port: pagePort, replay, output });
    if (target === undefined)
      output.note(
        "What is accepted here, the service does not send again. With --forward-to, your receiver gets it, too.",
      );
    try {
      const server = await startServer({ port: flags.port, signing, target, onArrival });
      const url = `http://127.0.0.1:${server.port}`;
      output.record({ url, page: page?.url ?? null }, url);
      if (page !== undefined) output.note(`The page is at ${page.url}`);
      terminal.onLine(() => {
        if (last !== undefined) void replay?.(last);
      });
      await stopped;
      await server.close();
    } finally {
      await page?.close();
    }
    return true;
  },
};

/** Without a secret, it works too. Only a stack that the user named must have one. */
async function secretsFor(context: Context): Promise<SigningSecrets | undefined> {
  const { output, pulumi } = context;
  const signing = await findSecrets(context).catch((error: unknown) => {
    if (pulumi.stack !== undefined || !(error instanceof CliError) || error.code === "INTERRUPTED")
      throw error;
    output.warn(error.detail);
    return { whyNone: "Pulumi failed" };
  });
  if (!("whyNone" in signing)) {
    output.note(`Signatures are checked with ${describeSecrets(signing)}.`);
    return signing;
  }
  output.note(
    `Signatures are not checked, because there is no signing secret: ${signing.whyNone}. Set WEBHOOK_SECRET to check them.`,
  );
  return undefined;
}

/** @throws CliError `WRONG_USE` */
function checkTarget(url: string, port: number): void {
  const target = new URL(url);
  if (!isLoopback(target.hostname) || target.port !== String(port)) return;
  throw new CliError("WRONG_USE", "--forward-to has the port of --port: the command would forward to itself");
}
