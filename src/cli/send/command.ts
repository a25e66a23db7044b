import { isUtf8 } from "node:buffer";
import { Command, InvalidArgumentError } from "commander";
import { newId, tampered } from "../../emulator/deliveries/message";
import { openWayTo } from "../../shared/post";
import { DEFAULT_TOLERANCE_SECONDS } from "../../signature/tolerance";
import { checkUrl, parseDuration, wholeNumber } from "../arguments";
import { CliError } from "../errors";
import { jsonOption } from "../flags";
import { Output } from "../oldOutput";
import { EXIT, type ExitStatus, endsByItself, withUsage } from "../oldRun";
import { addSecretOptions, readSecrets, type SigningSecrets } from "../secrets/secrets";
import { durationText } from "../text";
import { adviceFor, attempt, type SentDelivery } from "./attempt";
import { checkFlags, type SendFlags } from "./flags";
import { bodyOf, type Message, replayedMessage, signedMessage } from "./message";

export function sendCommand(): Command {
  const command = new Command("send")
    .summary("send a signed delivery to a receiver")
    .description(
      "Sends one delivery, signed as the service signs it, and shows the answer. Without --to, it goes to the endpoint of the stack. " +
        "With several secrets, it is signed with each, as during a rotation.",
    )
    .argument("[event]", "job.running, job.succeeded, job.failed, or any other event")
    .option("--to <url>", "the receiver's url (default: the url of the stack's endpoint)")
    .option("--endpoint <name>", "which of the stack's endpoints, if there are several")
    .option("--data <json>", "the event's data as JSON, or @ and the path of a file (default: a job)")
    .option("--any-event", "take a name that looks like a misspelt event of the service")
    .option("--capture <path>", "send a captured delivery again, byte for byte, instead of a new one")
    .option("--id <webhook-id>", "which captured delivery, if the file has several")
    .option("--sign-anew", "sign the captured delivery now, so that it is not too old")
    .option("--new-id", "give it a new id too, so that a receiver that dedupes handles it again")
    .option("--tamper", "change the body after signing, as an attacker would; the receiver should refuse it")
    .option("--age <duration>", "sign with an old timestamp: 90s, 15m, 2h, 7d", parseAge, 0)
    .option("--repeat <count>", "how often to send it, under the same id", wholeNumber, 1);
  return withUsage(addSecretOptions(command).addOption(jsonOption()), {
    exit: {
      [EXIT.yes]:
        "the receiver accepted each delivery (2xx); with --tamper, or an --age above its tolerance, it refused each (4xx)",
      [EXIT.no]: "it did not, or the command failed",
    },
    examples: [
      "send job.succeeded --to http://127.0.0.1:8080/jobs --secret-env WEBHOOK_SECRET",
      `send job.failed --stack dev --data '{"jobId":"job_1","status":"failed"}'`,
      "send job.succeeded --stack dev --tamper",
      "send --capture captures/1795253400000-msg_2Lh9.json --to http://127.0.0.1:8080/jobs",
    ],
  }).action(endsByItself(send));
}

async function send(given: string | undefined, flags: SendFlags): Promise<ExitStatus> {
  const output = new Output({ json: flags.json });
  checkFlags(given, flags);
  if (flags.to !== undefined) checkUrl(flags.to, "--to");
  const { message, signing } = await output.during(
    () => "Reading the delivery and its secrets…",
    prepare(given, flags, (text) => output.note(text)),
  );
  const url = flags.to ?? endpointUrl(signing, flags.endpoint);

  const { event, id, age } = message;
  const body = flags.tamper ? changed(message.body) : message.body;
  const tolerance = signing?.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  const isTooOld = tolerance > 0 && Math.abs(age) > tolerance;
  const shouldRefuse = flags.tamper === true || isTooOld;
  const dispatcher = openWayTo(url);
  const deliveries: SentDelivery[] = [];
  const sendAll = async () => {
    for (let count = 0; count < flags.repeat; count += 1) {
      const sent = await attempt({ url, headers: message.headers(), body, dispatcher }, { shouldRefuse });
      deliveries.push(sent);
      if (!output.json) for (const line of linesOf(event, id, sent)) output.line(line);
    }
  };
  try {
    await output.during(
      () => `Waiting for the receiver: ${deliveries.length} of ${flags.repeat} answered.`,
      sendAll(),
    );
  } finally {
    await dispatcher.destroy();
  }
  const expected = shouldRefuse ? "refused" : "accepted";
  const asExpected = deliveries.every((delivery) => delivery.asExpected);
  output.data({ event, id, expected, asExpected, deliveries }, () => {
    if (asExpected && !shouldRefuse) return;
    const why = flags.tamper
      ? "changed after signing"
      : `${durationText(Math.abs(age))} ${age < 0 ? "in the future" : "old"}`;
    if (asExpected) output.line(`The receiver refused the delivery, as it should: it was ${why}.`);
    else output.warn(adviceFor(deliveries, shouldRefuse ? why : undefined));
    if (flags.capture !== undefined && isTooOld && flags.signAnew !== true)
      output.note("To send the captured delivery as a new one, add --sign-anew.");
  });
  return asExpected ? EXIT.yes : EXIT.no;
}

interface Prepared {
  readonly message: Message;
  /** Undefined if nothing is signed here, and the url is known. */
  readonly signing: SigningSecrets | undefined;
}

/** @throws InvalidArgumentError */
function parseAge(value: string): number {
  const age = parseDuration(value);
  if (age < Date.now()) return age;
  throw new InvalidArgumentError("It must not go back further than 1970.");
}

/** @throws CliError of the options, the files and the secrets */
async function prepare(
  event: string | undefined,
  flags: SendFlags,
  note: (text: string) => void,
): Promise<Prepared> {
  const { capture, to, secret, secretEnv, secretFile, stack, signAnew = false } = flags;
  const age = Math.round(flags.age / 1000);
  const data = capture === undefined ? Buffer.from(await bodyOf(event ?? "", flags.data)) : undefined;
  const isSecretGiven = [secret, secretEnv, secretFile, stack].some((each) => each !== undefined);
  const signing =
    data !== undefined || signAnew || to === undefined || isSecretGiven
      ? await readSecrets(flags)
      : undefined;
  const secrets = signing?.secrets ?? [];
  const message =
    data !== undefined
      ? signedMessage({ event: event ?? "", id: newId(), body: data, age, secrets })
      : await replayedMessage(capture ?? "", {
          id: flags.id,
          note,
          signAnew: signAnew ? { secrets, age, isNewId: flags.newId === true } : undefined,
        });
  return { message, signing };
}

/** @throws CliError `WRONG_USE` */
function endpointUrl(signing: SigningSecrets | undefined, name: string | undefined): string {
  const endpoints = signing?.endpoints ?? {};
  const names = Object.keys(endpoints);
  const known = `The stack's receiver has: ${names.join(", ")}`;
  const chosen = name ?? (names.length === 1 ? names[0] : undefined);
  if (names.length === 0)
    throw new CliError(
      "WRONG_USE",
      "the url of the receiver is missing: name it with --to, or name a stack whose receiver has an endpoint with --stack",
    );
  if (chosen === undefined)
    throw new CliError("WRONG_USE", `choose an endpoint with --endpoint, or a url with --to. ${known}`);
  const endpoint = Object.hasOwn(endpoints, chosen) ? endpoints[chosen] : undefined;
  if (endpoint === undefined) throw new CliError("WRONG_USE", `--endpoint names no endpoint. ${known}`);
  checkUrl(endpoint.url, `the url of the endpoint ${chosen}`);
  return endpoint.url;
}

/** Changes a body as an attacker would. */
function changed(body: Buffer): Buffer {
  return isUtf8(body)
    ? Buffer.from(tampered(body.toString("utf8")))
    : Buffer.concat([body, Buffer.from(" ")]);
}

function linesOf(event: string, id: string, { status, failure, durationMs, answer }: SentDelivery): string[] {
  const result = status === null ? `no answer (${failure})` : String(status);
  const end = status === null || failure === null ? "" : `, and the answer did not end (${failure})`;
  const lines = [`${event} ${id}: ${result}, after ${durationMs} ms${end}`];
  return answer === "" ? lines : [...lines, `  ${answer}`];
}
