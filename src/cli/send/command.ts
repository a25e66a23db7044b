import { randomBytes } from "node:crypto";
import { Command } from "commander";
import { tampered } from "../../emulator/deliveries/message";
import { DEFAULT_TOLERANCE_SECONDS } from "../../signature/tolerance";
import { openDispatcher } from "../../validation/post";
import { parseDuration } from "../age";
import { checkUrl, wholeNumber } from "../arguments";
import { CliError } from "../errors";
import { jsonOption } from "../flags";
import { Output } from "../output";
import { EXIT, type ExitStatus, endsByItself, exitHelp } from "../run";
import { addSecretOptions, readSecrets, type SecretFlags } from "../secrets";
import { durationText } from "../timeText";
import { attempt, type SentDelivery, signedHeaders } from "./attempt";
import { bodyOf } from "./body";
import { endpointUrl } from "./target";

const MOST_REPEATS = 1_000;

interface Flags extends SecretFlags {
  readonly to?: string;
  readonly endpoint?: string;
  readonly data?: string;
  readonly tamper?: true;
  /** In milliseconds. */
  readonly age: number;
  readonly repeat: number;
  readonly json?: boolean;
}

export function sendCommand(): Command {
  const command = new Command("send")
    .summary("send a signed delivery to a receiver")
    .description(
      "Sends one delivery, signed as the service signs it, and shows the answer. Without --to, it goes to the endpoint of the stack. " +
        "With several secrets, it is signed with each, as during a rotation.",
    )
    .argument("<event>", "job.running, job.succeeded, job.failed, or any other event")
    .option("--to <url>", "the receiver's url (default: the url of the stack's endpoint)")
    .option("--endpoint <name>", "which of the stack's endpoints, if there are several")
    .option("--data <json>", "the event's data as JSON, or @ and the path of a file (default: a job)")
    .option("--tamper", "change the body after signing, as an attacker would; the receiver should refuse it")
    .option("--age <duration>", "sign with an old timestamp: 90s, 15m, 2h, 7d", parseDuration, 0)
    .option("--repeat <count>", "how often to send it, under the same id", wholeNumber, 1);
  return addSecretOptions(command)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `${exitHelp({
        [EXIT.yes]:
          "the receiver accepted each delivery (2xx); with --tamper, or an --age above its tolerance, it refused each (4xx)",
        [EXIT.no]: "it did not, or the command failed",
      })}
Examples:
  $ npx webhook-endpoints send job.succeeded --to http://127.0.0.1:8080/jobs --secret-env WEBHOOK_SECRET
  $ npx webhook-endpoints send job.failed --stack dev --data '{"jobId":"job_1","status":"failed"}'
  $ npx webhook-endpoints send job.succeeded --stack dev --tamper`,
    )
    .action(endsByItself(send));
}

async function send(event: string, flags: Flags): Promise<ExitStatus> {
  const output = new Output({ json: flags.json });
  if (event === "" || /whsec_/i.test(event))
    throw new CliError("WRONG_USE", "the event must be a name, such as job.succeeded");
  if (flags.repeat < 1 || flags.repeat > MOST_REPEATS)
    throw new CliError("WRONG_USE", `--repeat must be from 1 to ${MOST_REPEATS}`);
  if (flags.to !== undefined) checkUrl(flags.to, "--to");
  const signed = await bodyOf(event, flags.data);
  const signing = await readSecrets(flags, { stackToo: flags.to === undefined });
  const url = flags.to ?? endpointUrl(signing, flags.endpoint);

  const id = `msg_${randomBytes(12).toString("hex")}`;
  const body = Buffer.from(flags.tamper ? tampered(signed) : signed);
  const tolerance = signing.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  const age = Math.round(flags.age / 1000);
  const isTooOld = tolerance > 0 && age > tolerance;
  const shouldRefuse = flags.tamper === true || isTooOld;
  const dispatcher = openDispatcher(url);
  const deliveries: SentDelivery[] = [];
  try {
    for (let count = 0; count < flags.repeat; count += 1) {
      const headers = signedHeaders({ id, body: signed, age, secrets: signing.secrets });
      const sent = await attempt({ url, headers, body, dispatcher }, { shouldRefuse });
      deliveries.push(sent);
      if (!output.json) for (const line of linesOf(event, id, sent)) output.line(line);
    }
  } finally {
    await dispatcher.destroy();
  }
  const expected = shouldRefuse ? "refused" : "accepted";
  const asExpected = deliveries.every((delivery) => delivery.asExpected);
  output.data({ event, id, expected, asExpected, deliveries }, () => {
    if (asExpected && !shouldRefuse) return;
    const why = flags.tamper ? "changed after signing" : `${durationText(age)} old`;
    if (asExpected) output.line(`The receiver refused the delivery, as it should: it was ${why}.`);
    else output.warn(adviceFor(deliveries, shouldRefuse ? why : undefined));
  });
  return asExpected ? EXIT.yes : EXIT.no;
}

function linesOf(event: string, id: string, { status, failure, durationMs, answer }: SentDelivery): string[] {
  const result = status === null ? `no answer (${failure})` : String(status);
  const lines = [`${event} ${id}: ${result}, after ${durationMs} ms`];
  return answer === "" ? lines : [...lines, `  ${answer}`];
}

/** @param fault why the receiver should have refused the delivery, if it should have */
function adviceFor(deliveries: readonly SentDelivery[], fault: string | undefined): string {
  const { status } = deliveries.find(({ asExpected }) => !asExpected) ?? { status: null };
  if (status === null) return "The receiver did not answer. Check that it listens at this url.";
  if (status === 404) return "Nothing answers at this path. Check the path of the url.";
  if (status >= 300 && status < 400)
    return "The receiver redirects deliveries, and a service does not follow redirects. Use the url of the redirect's target.";
  if (fault !== undefined)
    return `The receiver should refuse this delivery with a 4xx other than 404, 405, 408 and 429: it was ${fault}.`;
  if (status === 401)
    return "The receiver refused the delivery. It has another secret, or something changes the body: its log names the reason.";
  return "The receiver did not accept the delivery with 2xx. Its log says why.";
}
