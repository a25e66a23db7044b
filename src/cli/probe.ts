import { Command } from "commander";
import { type ValidationResult, validateReceiver } from "../validation";
import { validateOnce } from "../validation/validateReceiver";
import { checkUrl, wholeNumber } from "./arguments";
import { CliError } from "./errors";
import { jsonOption } from "./flags";
import { Output } from "./oldOutput";
import { EXIT, type ExitStatus, endsByItself, withUsage } from "./oldRun";
import { describeSecret } from "./secrets/namedSecret";
import { addSecretOptions, readSecrets, type SecretFlags } from "./secrets/secrets";

/** In seconds. */
const LONGEST_WAIT = 3_600;

interface Flags extends SecretFlags {
  readonly wait?: number;
  readonly json?: boolean;
}

export function probeCommand(): Command {
  const command = new Command("probe")
    .summary("prove that a receiver accepts genuine deliveries and refuses others")
    .description(
      "Sends a receiver a genuine delivery and one with a broken signature, for each secret, as a ReceiverValidation does in a " +
        "Pulumi program. The event is webhook.validation, for which no handler is called.",
    )
    .argument("<url>", "the receiver's url")
    .option(
      "--wait <seconds>",
      "how long to retry what may pass, such as a receiver that is starting",
      wholeNumber,
    );
  return withUsage(addSecretOptions(command).addOption(jsonOption()), {
    exit: {
      [EXIT.yes]: "the receiver accepted each genuine delivery and refused each broken one",
      [EXIT.no]: "it did not, or the command failed",
    },
    examples: [
      "probe https://hooks.example.com/jobs --stack prod",
      "probe http://127.0.0.1:8080/jobs --secret-env WEBHOOK_SECRET --wait 60",
    ],
  }).action(endsByItself(probe));
}

async function probe(url: string, flags: Flags): Promise<ExitStatus> {
  const output = new Output({ json: flags.json });
  checkUrl(url, "the url");
  const { wait = 0 } = flags;
  if (wait > LONGEST_WAIT) throw new CliError("WRONG_USE", `--wait must be at most ${LONGEST_WAIT} seconds`);
  const { secrets } = await output.during(() => "Reading the signing secrets…", readSecrets(flags));
  const target = { url, secrets: secrets.map(({ value }) => value) };
  const startedAt = performance.now();
  const left = () => wait - Math.floor((performance.now() - startedAt) / 1000);
  const result = await output.during(
    () =>
      wait === 0
        ? "Waiting for the receiver to answer…"
        : `Waiting for the receiver, for up to ${left()} s more.`,
    wait === 0 ? validateOnce(target) : validateReceiver({ ...target, timeoutMs: wait * 1000 }),
  );
  const { validated, code, genuine, broken } = result;
  output.data({ validated, code, genuine, broken }, () => {
    // In a rotation: a secret that the stack lacks still is not tried.
    if (secrets.length > 1)
      output.note(`Tried ${secrets.length} secrets: ${secrets.map(describeSecret).join(", ")}.`);
    output.line(describe(result));
  });
  if (output.json && result.reason !== null) output.note(result.reason);
  return validated ? EXIT.yes : EXIT.no;
}

function describe({ validated, code, reason, genuine, broken }: ValidationResult): string {
  const answers = `A genuine delivery was answered with ${genuine.status}, a broken one with ${broken.status}.`;
  return validated ? `Validated. ${answers}` : `Not validated: ${reason} (${code}).`;
}
