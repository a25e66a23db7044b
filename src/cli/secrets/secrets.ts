import { readFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import { programFolder, projectFile } from "../../settlement/stackName";
import { CodedError } from "../../shared/codedError";
import { mayBeKey } from "../../shared/mayBeKey";
import { NOT_SHOWN, shown } from "../../shared/shown";
import { ReceiverConfigError } from "../../stack";
import type { ReceiverEndpoint } from "../../stack/config";
import { CliError } from "../errors";
import { hideSecret } from "../knownSecrets";
import { Pulumi } from "../oldPulumi";
import { askHidden, isAnswered } from "../terminal";
import { readSecretText, type SecretText } from "./secretText";
import { readStackReceivers } from "./stackReceivers";

export interface SecretFlags {
  readonly secret?: string | true;
  readonly secretEnv?: string;
  readonly secretFile?: string;
  readonly stack?: string;
  readonly output: string;
}

/** A signing secret, with a name that may be shown, such as "secret 1 of 2". */
export interface NamedSecret {
  readonly name: string;
  readonly value: string;
}

/** What a command verifies or signs with. */
export interface SigningSecrets {
  /** At least one. */
  readonly secrets: readonly NamedSecret[];
  /** Those that other receivers of the same stack have. */
  readonly otherSecrets: readonly NamedSecret[];
  /** Undefined if the source has none. */
  readonly toleranceSeconds: number | undefined;
  /** By name. Empty if the source has none. */
  readonly endpoints: Readonly<Record<string, ReceiverEndpoint>>;
}

const DEFAULT_OUTPUT = "receiver";
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;
const WAYS =
  "Use --secret-env NAME, --secret-file PATH, or the folder of a Pulumi program whose stack has the output receiver (--stack names " +
  "another stack), or run the command in a terminal, which asks for it";

/** Adds the options that say where the signing secret comes from. */
export function addSecretOptions(command: Command): Command {
  return command
    .option(
      "--secret-env <name>",
      "the environment variable with the signing secret, or with a receiver's configuration",
    )
    .option(
      "--secret-file <path>",
      "a file with one signing secret on each line, a receiver's configuration, or the emulator's data file",
    )
    .option("-s, --stack <name>", "the stack whose receiver has the secret (default: the selected one)")
    .option("--output <name>", "the stack's output that receiverConfig made", DEFAULT_OUTPUT)
    .addOption(new Option("--secret [value]").hideHelp());
}

/**
 * Reads the signing secrets from the first of: `--secret-env`, `--secret-file`, the stack, a prompt.
 *
 * @param stackToo whether to read the receivers of the stack that `--stack` names if the secret comes from elsewhere. Default: true.
 * @throws CliError `SECRET_IN_ARGUMENT`, `SECRET_MISSING`, or one of `pulumi`
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`
 */
export async function readSecrets(
  flags: SecretFlags,
  { stackToo = true }: { readonly stackToo?: boolean } = {},
): Promise<SigningSecrets> {
  const { secret, secretEnv, secretFile, stack, output } = flags;
  if (secret !== undefined)
    throw new CliError(
      "SECRET_IN_ARGUMENT",
      `a signing secret must not be an argument, where other programs and the shell's history can see it. ${WAYS}`,
    );
  if (secretEnv !== undefined && secretFile !== undefined)
    throw new CliError(
      "WRONG_USE",
      "--secret-env and --secret-file both name secrets, so leave out one of them",
    );
  if (secretEnv === undefined && secretFile === undefined) return named(await fromStackOrPrompt(flags));
  const given =
    secretEnv === undefined ? await fromFile(secretFile ?? "", output) : fromEnvironment(secretEnv, output);
  if (output !== DEFAULT_OUTPUT && stack === undefined && given.others === undefined)
    throw new CliError(
      "WRONG_USE",
      "what --secret-env or --secret-file names holds no outputs of a stack, so leave out --output, or leave out the other option to take the secret of the selected stack",
    );
  if (!stackToo || stack === undefined) return named(given);
  const { config, others } = await readStackReceivers(new Pulumi(stack), output);
  return named({ ...given, config, others: new Map([[output, config], ...others]) });
}

async function fromStackOrPrompt({ stack, output }: SecretFlags): Promise<SecretText> {
  if (stack === undefined && projectFile(programFolder(process.env)) === undefined) return fromPrompt(output);
  try {
    const { config, others } = await readStackReceivers(new Pulumi(stack), output);
    return { secrets: config.secrets, config, others };
  } catch (error) {
    if (stack !== undefined || !(error instanceof CodedError)) throw error;
    return fromPrompt(output, `, and the stack in this folder has none: ${error.reason}`);
  }
}

async function fromPrompt(output: string, why = ""): Promise<SecretText> {
  if (!isAnswered()) throw new CliError("SECRET_MISSING", `no signing secret was given${why}. ${WAYS}`);
  const answer = await askHidden("Signing secret (whsec_…, not shown): ");
  return readSecretText(answer, { place: "the signing secret that you entered", output });
}

function fromEnvironment(name: string, output: string): SecretText {
  const text: unknown = process.env[name];
  // Of a name such as __proto__, the environment has what every object has.
  if (typeof text === "string" && text.trim() !== "")
    return readSecretText(text, { place: `the environment variable ${shown(name)}`, output });
  throw new ReceiverConfigError(
    "CONFIG_MISSING",
    VARIABLE_NAME.test(name) && !mayBeKey(name)
      ? `the environment variable ${name} is not set: set it to the signing secret, or name another with --secret-env`
      : `--secret-env does not name an environment variable that is set. ${NOT_SHOWN} the name of the variable, not its value`,
  );
}

async function fromFile(path: string, output: string): Promise<SecretText> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      mayBeKey(path)
        ? `--secret-file does not name a file that can be read (${code}). ${NOT_SHOWN} the path of the file, not what the file holds`
        : `the file ${path} with the signing secret cannot be read (${code})`,
    );
  }
  return readSecretText(text, { place: `the file ${shown(path)}`, output });
}

function named({ secrets, config, others = new Map() }: SecretText): SigningSecrets {
  const own = new Set(secrets);
  for (const secret of [secrets, ...[...others.values()].map((other) => other.secrets)].flat())
    hideSecret(secret);
  const otherSecrets = [...others].flatMap(([name, other]) =>
    other.secrets
      .map((value, index) => ({
        name: `${nameOf(index, other.secrets)} of the output ${shown(name)}`,
        value,
      }))
      .filter(({ value }) => !own.has(value)),
  );
  return {
    secrets: secrets.map((value, index) => ({ name: nameOf(index, secrets), value })),
    otherSecrets,
    toleranceSeconds: config?.toleranceSeconds,
    endpoints: config?.endpoints ?? {},
  };
}

function nameOf(index: number, all: readonly unknown[]): string {
  return all.length === 1 ? "the secret" : `secret ${index + 1} of ${all.length}`;
}
