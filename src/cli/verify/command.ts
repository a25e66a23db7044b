import { Command } from "commander";
import { DEFAULT_TOLERANCE_SECONDS } from "../../signature/tolerance";
import { unixSeconds, wholeNumber } from "../arguments";
import { jsonOption } from "../flags";
import { readInput } from "../inputFile";
import { Output } from "../output";
import { EXIT, type ExitStatus, endsByItself, exitHelp } from "../run";
import {
  addSecretOptions,
  fingerprintOfSecret,
  type NamedSecret,
  readSecrets,
  type SecretFlags,
} from "../secrets";
import { clockText, durationText } from "../timeText";
import { readCapturedHeaders } from "./capturedHeaders";
import { type Diagnosis, diagnose } from "./diagnosis";

interface Flags extends SecretFlags {
  readonly headers: string;
  readonly body: string;
  readonly tolerance?: number;
  readonly at?: number;
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
    .requiredOption("--headers <path>", "a file with the headers: lines of `name: value`, or a JSON object")
    .requiredOption("--body <path>", "a file with the body, byte for byte")
    .option("--at <time>", "when the receiver got it, such as 2026-11-21T09:30:00Z")
    .option(
      "--tolerance <seconds>",
      "how old it may have been then; 0 for any age (default: the receiver's, or 300)",
      wholeNumber,
    );
  command.options.find(({ long }) => long === "--at")?.argParser(unixSeconds);
  return addSecretOptions(command)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `${exitHelp({
        [EXIT.yes]: "the delivery verifies",
        [EXIT.no]: "it does not verify, or the command failed",
      })}
Examples:
  $ npx webhook-endpoints verify --headers headers.txt --body body.json --secret-env WEBHOOK_SECRET
  $ npx webhook-endpoints verify --headers headers.txt --body body.json --stack dev --at 2026-11-21T09:30:00Z`,
    )
    .action(endsByItself(verifyCapture));
}

async function verifyCapture(flags: Flags): Promise<ExitStatus> {
  const output = new Output({ json: flags.json });
  const capture = {
    headers: readCapturedHeaders((await readInput(flags.headers, "--headers")).toString("utf8")),
    body: await readInput(flags.body, "--body"),
  };
  const { secrets, otherSecrets, toleranceSeconds } = await readSecrets(flags, { stackToo: true });
  const tolerance = flags.tolerance ?? toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  const now = Math.floor(Date.now() / 1000);
  const diagnosis = diagnose({
    ...capture,
    secrets,
    otherSecrets,
    toleranceSeconds: tolerance,
    receivedAt: flags.at,
    now,
  });
  const tried = [...secrets, ...otherSecrets];
  output.data(dataOf(diagnosis, tried, now), () => {
    for (const line of linesOf(diagnosis, tried, now)) output.line(line);
  });
  if (diagnosis.verified && flags.at === undefined && tolerance > 0 && now - diagnosis.timestamp > tolerance)
    output.note(
      `A receiver that gets it only now refuses it as too old: it accepts ${durationText(tolerance)}. To check when it was received, add --at.`,
    );
  return diagnosis.verified ? EXIT.yes : EXIT.no;
}

function dataOf(diagnosis: Diagnosis, tried: readonly NamedSecret[], now: number): object {
  const { secret } = diagnosis;
  const signer = secret === undefined ? null : dataOfSecret(secret);
  if (!diagnosis.verified) {
    const { verified, reason, finding, advice } = diagnosis;
    return { verified, reason, finding, advice, secret: signer, tried: tried.map(dataOfSecret) };
  }
  const { verified, id, timestamp } = diagnosis;
  return { verified, id, timestamp, ageSeconds: now - timestamp, secret: signer };
}

function dataOfSecret(secret: NamedSecret): object {
  return { name: secret.name, fingerprint: fingerprintOfSecret(secret) };
}

function linesOf(diagnosis: Diagnosis, tried: readonly NamedSecret[], now: number): string[] {
  if (diagnosis.verified) {
    const { id, timestamp, secret } = diagnosis;
    const age = now >= timestamp ? `${durationText(now - timestamp)} ago` : "just now";
    return [
      `Verified: ${id} was signed with ${described(secret)}.`,
      `Sent: ${clockText(timestamp)}, ${age}.`,
    ];
  }
  const { reason, finding, advice, secret } = diagnosis;
  const used = secret === undefined ? [] : [`Signed with: ${described(secret)}.`];
  const isSecretUnknown = reason === "wrong-secret";
  return [
    `Not verified: ${reason}.`,
    finding,
    ...used,
    ...(isSecretUnknown ? [`Tried: ${tried.map(described).join(", ")}.`] : []),
    `What to do: ${advice}`,
  ];
}

function described(secret: NamedSecret): string {
  return `${secret.name} (fingerprint ${fingerprintOfSecret(secret)})`;
}
