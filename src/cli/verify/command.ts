import { Command } from "commander";
import { DEFAULT_TOLERANCE_SECONDS } from "../../signature/tolerance";
import { unixSeconds, wholeNumber } from "../arguments";
import { jsonOption } from "../flags";
import { Output } from "../oldOutput";
import { EXIT, type ExitStatus, endsByItself, withUsage } from "../oldRun";
import { addSecretOptions, readSecrets, type SecretFlags } from "../secrets/secrets";
import { durationText } from "../text";
import { diagnoseInWorker } from "./inWorker";
import { dataOf, linesOf } from "./report";
import { readDelivery, type SourceFlags } from "./source";

/** In seconds. */
const DEFAULT_SEARCH = 20;

interface Flags extends SecretFlags, SourceFlags {
  readonly tolerance?: number;
  readonly at?: number;
  /** In seconds. */
  readonly search: number;
  readonly json?: boolean;
}

export function verifyCommand(): Command {
  const command = new Command("verify")
    .summary("find out why a captured delivery does not verify")
    .description(
      "Verifies a captured delivery. If it does not verify, prints the reason and what to do: it tries the usual changes of a body, " +
        "the other secrets of the stack, and usual mistakes. The signature decides, because a capture is old by nature. To check the " +
        "receiver's clock too, add --at with the time at which the receiver got the delivery.",
    )
    .option(
      "--capture <path>",
      "a file with headers and body: of `listen --save`, a HAR file, an event of AWS Lambda, or a raw HTTP request",
    )
    .option("--headers <path>", "a file with the headers: lines of `name: value`, or JSON")
    .option("--body <path>", "a file with the body, byte for byte")
    .option("--id <webhook-id>", "which delivery, if the file has several")
    .option("--at <time>", "when the receiver got it, such as 2026-11-21T09:30:00Z", unixSeconds)
    .option(
      "--tolerance <seconds>",
      "how old it may have been then; 0 for any age (default: the receiver's, or 300)",
      wholeNumber,
    )
    .option("--search <seconds>", "how long to search for the cause", wholeNumber, DEFAULT_SEARCH);
  addSecretOptions(command)
    .addOption(jsonOption())
    .addHelpText("after", "\nEach path may be - for standard input, except that of --secret-file.");
  return withUsage(command, {
    exit: {
      [EXIT.yes]: "the delivery verifies",
      [EXIT.no]: "it does not verify, or the command failed",
    },
    examples: [
      "verify --capture captures/1795253400000-msg_2Lh9.json --secret-env WEBHOOK_SECRET",
      "verify --headers headers.txt --body body.json --secret-env WEBHOOK_SECRET",
      "verify --headers headers.txt --body body.json --stack dev --at 2026-11-21T09:30:00Z",
    ],
  }).action(endsByItself(verifyCapture));
}

async function verifyCapture(flags: Flags): Promise<ExitStatus> {
  const output = new Output({ json: flags.json });
  const note = (text: string) => output.note(text);
  const delivery = await output.during(() => "Reading the delivery…", readDelivery(flags, note));
  const { secrets, otherSecrets, toleranceSeconds } = await output.during(
    () => "Reading the signing secrets…",
    readSecrets(flags),
  );
  const tolerance = flags.tolerance ?? toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  const now = Math.floor(Date.now() / 1000);
  const receivedAt = flags.at ?? delivery.receivedAt;
  let bodies = 0;
  const { headers, body } = delivery;
  const diagnosis = await output.during(
    () => `Searching for the cause: ${bodies} bodies tried, for at most ${flags.search} s.`,
    diagnoseInWorker({
      headers,
      body,
      secrets,
      otherSecrets,
      toleranceSeconds: tolerance,
      receivedAt,
      now,
      seconds: flags.search,
      onTried: (count) => {
        bodies = count;
      },
    }),
  );
  const tried = [...secrets, ...otherSecrets];
  output.data(dataOf(diagnosis, tried, now), () => {
    for (const line of linesOf(diagnosis, tried, now)) output.line(line);
  });
  if (
    diagnosis.verified &&
    receivedAt === undefined &&
    tolerance > 0 &&
    now - diagnosis.timestamp > tolerance
  )
    output.note(
      `A receiver that gets it only now refuses it as too old: it accepts ${durationText(tolerance)}. To check when it was received, add --at.`,
    );
  return diagnosis.verified ? EXIT.yes : EXIT.no;
}
