import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { QueueReceiverOptions, Receiver, ReceiverOptions } from "../receiver";
import { startedReceiver } from "../receiver/receiver";
import type { NoEvents } from "../receiver/types";
import { isRecord, parseJson } from "../shared/json";
import { masked, shown } from "../shared/masking";
import { runPulumi } from "../shared/pulumiCommand";
import {
  OUTPUT_COMMAND,
  type ParsedConfig,
  parseConfig,
  RECEIVER_OUTPUT,
  ReceiverConfigError,
} from "./receiverConfigFormat";

/** A receiver's options, apart from its secrets. A tolerance given here overrides the one of the configuration. */
export type ConfiguredReceiverOptions<Events extends object = NoEvents> = Omit<
  ReceiverOptions<Events>,
  "secrets"
>;

/** The same of a receiver that hands its deliveries to a queue. */
export type ConfiguredQueueOptions = Omit<QueueReceiverOptions, "secrets">;

/** Where `receiverFromEnv` reads the configuration. */
export interface EnvSource {
  /** The name of the environment variable that holds the configuration as JSON. Default: `WEBHOOK_RECEIVER`. */
  readonly variable?: string | undefined;
}

/** Where `receiverFromFile` reads the configuration. */
export interface FileSource {
  /** The file that holds the configuration as JSON, such as a mounted secret. A relative path is resolved once, at the start. */
  readonly path: string;
}

/** Where `receiverFromStack` reads the configuration. */
export interface StackSource {
  /** The stack's name, as `pulumi stack ls` shows it. */
  readonly stackName: string;
  /** The program's folder. Default: the current one. */
  readonly workDir?: string | undefined;
  /** The name of the output that holds what `receiverConfig` returned. Default: `receiver`. */
  readonly output?: string | undefined;
  /** The backend that holds the state. Default: the one that `pulumi` uses there. */
  readonly backendUrl?: string | undefined;
}

/**
 * Creates a receiver from an environment variable: for production. A rotation needs a restart, which a change of the
 * configuration's `fingerprint` can trigger; `receiverFromFile` needs none.
 *
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`
 * @throws whatever `createReceiver` throws
 */
export function receiverFromEnv<Events extends object = NoEvents>(
  { variable = "WEBHOOK_RECEIVER" }: EnvSource,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
): Receiver {
  const text = process.env[variable];
  if (text === undefined || text.trim() === "")
    throw missing(
      `the environment variable ${shown(variable)} is not set, or empty: set it to the output of \`${OUTPUT_COMMAND}\``,
    );
  return configuredReceiver(parseConfig(text, { where: `in ${shown(variable)}` }), options);
}

/**
 * Creates a receiver from a file: for production, with a secret that a platform mounts and updates. The secrets are read again as
 * `ReceiverOptions.secrets` describes, so a rotation needs no restart, even where the platform swaps a symbolic link. If the
 * file cannot be used then, the last good secrets stay in use and `onSecretsError` is called. The tolerance is read once.
 *
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`
 * @throws whatever `createReceiver` throws
 */
export function receiverFromFile<Events extends object = NoEvents>(
  { path: given }: FileSource,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
): Receiver {
  const path = resolve(given);
  // Judged as it was given: in a path that is resolved, the slashes of a key may be those between folders.
  const where = `in ${shown(given) === given ? path : shown(given)}`;
  const fail = (error: unknown) => {
    // Not the cause: it repeats the path, and somebody may pass a secret in its place.
    const { code } = error as NodeJS.ErrnoException;
    throw missing(
      `the receiver's configuration ${where} cannot be read (${code}): pass the path of a file that this process may read`,
    );
  };
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    fail(error);
  }
  // One read at a time: each one that hangs takes a thread of Node's small pool.
  let reading: Promise<string> | undefined;
  const secretsNow = async () => {
    reading ??= readFile(path, "utf8").finally(() => {
      reading = undefined;
    });
    return parseConfig(await reading.catch(fail), { where }).secrets;
  };
  return configuredReceiver(parseConfig(text, { where }), options, secretsNow);
}

/**
 * Creates a receiver from a stack's secret output, which `pulumi` decrypts: for development and CI. It needs the CLI and
 * the means to decrypt the stack's secrets. Neither belongs in production: use `receiverFromFile` or `receiverFromEnv` there.
 *
 * @throws ReceiverConfigError `STACK_UNREADABLE`, `CONFIG_MISSING` or `CONFIG_INVALID`
 * @throws whatever `createReceiver` throws
 */
export async function receiverFromStack<Events extends object = NoEvents>(
  source: StackSource,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
): Promise<Receiver> {
  const { stackName, output = RECEIVER_OUTPUT } = source;
  // Without a name, the CLI would take the stack that happens to be selected.
  if (!/^\w/.test(stackName))
    throw missing("receiverFromStack: stackName must be the name of a stack, as `pulumi stack ls` shows it");
  const outputs = await outputsOf(source);
  const [stack, name] = [`stack ${shown(stackName)}`, shown(output)];
  if (!Object.hasOwn(outputs, output)) {
    const others = Object.keys(outputs).map(shown).join(", ") || "none";
    throw missing(
      `${stack} has no output ${name}; its outputs are: ${others}. Export what receiverConfig returns, and run \`pulumi up\``,
    );
  }
  const where = `in the output ${name} of ${stack}`;
  return configuredReceiver(parseConfig(outputs[output], { where }), options);
}

async function outputsOf({ stackName, workDir, backendUrl }: StackSource): Promise<Record<string, unknown>> {
  const args = ["stack", "output", "--json", "--show-secrets", "--stack", stackName];
  const env = backendUrl === undefined ? process.env : { ...process.env, PULUMI_BACKEND_URL: backendUrl };
  const unreadable = (detail: string) => new ReceiverConfigError("STACK_UNREADABLE", detail);
  const { exitCode, stdout, stderr } = await runPulumi(args, { cwd: workDir, env }).catch(() => {
    throw unreadable(
      "cannot run pulumi: install the Pulumi CLI, put it on PATH, and check that workDir is a folder",
    );
  });
  const outputs = exitCode === 0 ? parseJson(stdout) : undefined;
  if (isRecord(outputs)) return outputs;
  // The CLI's first error. The rest of what it printed, such as a program's output, may hold secrets.
  const line = /^error: (.+)$/m.exec(stderr)?.[1]?.trim();
  throw unreadable(
    `\`pulumi stack output\` failed for stack ${shown(stackName)}: ` +
      `${line === undefined ? `run it in workDir to see why (exit code ${exitCode})` : masked(line)}`,
  );
}

/** @param reload reads the secrets again. The receiver has those of the configuration until its first result. */
function configuredReceiver<Events extends object>(
  { secrets, toleranceSeconds }: ParsedConfig,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
  reload?: () => Promise<readonly string[]>,
): Receiver {
  const given = options.toleranceSeconds ?? toleranceSeconds;
  return startedReceiver({ ...options, toleranceSeconds: given, secrets: reload ?? secrets }, secrets);
}

function missing(detail: string): ReceiverConfigError {
  return new ReceiverConfigError("CONFIG_MISSING", detail);
}
