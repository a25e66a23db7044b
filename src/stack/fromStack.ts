import { runPulumi } from "../pulumiCommand";
import type { Receiver } from "../receiver";
import { ReceiverConfigError } from "./error";
import { parseConfig } from "./parse";
import { type ConfiguredReceiverOptions, configuredReceiver } from "./receiver";

export interface StackSource {
  readonly stackName: string;
  /** The program's folder. Default: the current one. */
  readonly workDir?: string | undefined;
  /** The output that `receiverConfig` made. Default: `receiver`. */
  readonly output?: string | undefined;
  /** Where the state is kept. Default: what `pulumi` uses there. */
  readonly backendUrl?: string | undefined;
}

/**
 * A receiver from a stack's secret output, which it has `pulumi` decrypt: for development and CI. It needs the CLI and what
 * opens the stack's secrets, neither of which belongs into production: there, see `receiverFromFile` and `receiverFromEnv`.
 *
 * @throws ReceiverConfigError `PULUMI_MISSING`, `STACK_UNREADABLE`, `CONFIG_MISSING` or `CONFIG_INVALID`
 */
export async function receiverFromStack(
  source: StackSource,
  options: ConfiguredReceiverOptions,
): Promise<Receiver> {
  const { stackName, output = "receiver" } = source;
  // Only what is not shown says that it is secret.
  const [masked, shown] = await Promise.all([outputsOf(source), outputsOf(source, "--show-secrets")]);
  if (!Object.hasOwn(shown, output)) {
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      `stack ${stackName} has no output ${output}; it has ${Object.keys(shown).join(", ") || "none"}. Export one that ` +
        "receiverConfig made, and run `pulumi up`",
    );
  }
  if (masked[output] !== "[secret]") {
    throw new ReceiverConfigError(
      "CONFIG_INVALID",
      `the output ${output} of stack ${stackName} is not secret: whoever can read the state can read it. Export what ` +
        "receiverConfig made, without `pulumi.unsecret`, and run `pulumi up`; a signing secret that stood there is to be rotated",
    );
  }
  const config = parseConfig(shown[output], { where: `in the output ${output} of stack ${stackName}` });
  return configuredReceiver(config, options);
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
      "pulumi cannot be run: install Pulumi's CLI and put it on PATH, and see that workDir is a folder",
    );
  });
  const command = `\`pulumi ${args.join(" ")}\``;
  if (exitCode !== 0)
    throw new ReceiverConfigError("STACK_UNREADABLE", `${command} failed: ${stderr.trim()}`);
  try {
    return JSON.parse(stdout);
  } catch {
    // Not the parser's own message, which repeats what it could not read.
    throw new ReceiverConfigError("STACK_UNREADABLE", `${command} printed no JSON`);
  }
}
