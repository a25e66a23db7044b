import type { Receiver } from "../receiver";
import type { NoEvents } from "../receiver/types";
import { isRecord } from "../shared/json";
import { runPulumi } from "../shared/pulumiCommand";
import { quotedLine } from "../shared/quotedLine";
import { NOT_SHOWN, shown } from "../shared/shown";
import { ReceiverConfigError } from "./config";
import { MASKED, parseConfig } from "./parse";
import {
  type ConfiguredQueueOptions,
  type ConfiguredReceiverOptions,
  checkArguments,
  configuredReceiver,
} from "./receiver";

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

/** `stack`, `project/stack` or `org/project/stack`. */
const STACK_NAME = /^[\w.-]+(\/[\w.-]+){0,2}$/;

/**
 * Creates a receiver from a stack's secret output, which `pulumi` decrypts: for development and CI. It needs the CLI and
 * the means to decrypt the stack's secrets. Neither belongs in production: use `receiverFromFile` or `receiverFromEnv` there.
 *
 * @throws ReceiverConfigError `PULUMI_MISSING`, `STACK_UNREADABLE`, `CONFIG_MISSING` or `CONFIG_INVALID`
 * @throws TypeError for an unknown option; see also `createReceiver`
 */
export async function receiverFromStack<Events extends object = NoEvents>(
  source: StackSource,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
): Promise<Receiver> {
  const known = ["stackName", "workDir", "output", "backendUrl"];
  checkArguments("receiverFromStack", { source, known, options });
  const { stackName, output = "receiver" } = source;
  if (typeof stackName !== "string" || !STACK_NAME.test(stackName) || /whsec_/i.test(stackName)) {
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      `receiverFromStack: stackName is not the name of a stack. ${NOT_SHOWN} \`stack\`, \`project/stack\` or \`org/project/stack\``,
    );
  }
  // Only the masked outputs tell whether an output is secret.
  const [hidden, decrypted] = await Promise.all([outputsOf(source), outputsOf(source, "--show-secrets")]);
  const [stack, name] = [`stack ${shown(stackName)}`, shown(String(output))];
  if (!Object.hasOwn(decrypted, output)) {
    const others = Object.keys(decrypted).map(shown).join(", ") || "none";
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      `${stack} has no output ${name}; its outputs are: ${others}. Export what receiverConfig returns, and run \`pulumi up\``,
    );
  }
  const config = parseConfig(decrypted[output], { where: `in the output ${name} of ${stack}` });
  if (!isEncrypted(hidden[output])) {
    throw new ReceiverConfigError(
      "CONFIG_INVALID",
      `the output ${name} of ${stack} is not secret, so everyone who can read the state can read it. Export what receiverConfig ` +
        "returns, without `pulumi.unsecret`, and run `pulumi up`. Then rotate the signing secret, because it was exposed",
    );
  }
  return configuredReceiver(config, options);
}

/** Returns whether the state encrypts a configuration, or at least the signing secrets in it. @param masked as the CLI prints it */
function isEncrypted(masked: unknown): boolean {
  if (masked === MASKED) return true;
  const secrets = isRecord(masked) ? masked.secrets : undefined;
  return secrets === MASKED || (Array.isArray(secrets) && secrets.every((secret) => secret === MASKED));
}

async function outputsOf(
  { stackName, workDir, backendUrl }: StackSource,
  ...flags: string[]
): Promise<Record<string, unknown>> {
  const args = ["stack", "output", "--json", "--stack", stackName, ...flags];
  const env = { ...process.env, ...(backendUrl === undefined ? {} : { PULUMI_BACKEND_URL: backendUrl }) };
  const { exitCode, stdout, stderr } = await runPulumi(args, { cwd: workDir, env }).catch(() => {
    throw new ReceiverConfigError(
      "PULUMI_MISSING",
      "cannot run pulumi: install the Pulumi CLI, put it on PATH, and check that workDir is a folder",
    );
  });
  const command = `\`pulumi ${args.map(shown).join(" ")}\``;
  if (exitCode !== 0) {
    throw new ReceiverConfigError(
      "STACK_UNREADABLE",
      `${command} failed: ${errorLineOf(stderr) ?? `run it in workDir to see why (exit code ${exitCode})`}`,
    );
  }
  try {
    return JSON.parse(stdout);
  } catch {
    // Without the cause, which repeats a part of the output.
    throw new ReceiverConfigError("STACK_UNREADABLE", `${command} did not print JSON`);
  }
}

/** Returns the first error that the CLI reported. The rest of what it printed, such as a program's output, may hold secrets. */
function errorLineOf(stderr: string): string | undefined {
  const line = /^error: (.+)$/m.exec(stderr)?.[1]?.trim();
  return line && quotedLine(line);
}
