import { execFile } from "node:child_process";
import type { Receiver } from "../receiver";
import { ReceiverConfigError } from "./error";
import { parseReceiverConfig } from "./parse";
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
  { stackName, workDir, output = "receiver", backendUrl }: StackSource,
  options: ConfiguredReceiverOptions,
): Promise<Receiver> {
  const text = await run(["stack", "output", "--json", "--show-secrets", "--stack", stackName], {
    cwd: workDir,
    env: {
      ...process.env,
      PULUMI_SKIP_UPDATE_CHECK: "true",
      ...(backendUrl === undefined ? {} : { PULUMI_BACKEND_URL: backendUrl }),
    },
  });
  const outputs: Record<string, unknown> = JSON.parse(text);
  if (outputs[output] === undefined) {
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      `stack ${stackName} has no output ${output}; it has ${Object.keys(outputs).join(", ") || "none"}. Export one that ` +
        "receiverConfig made, and run `pulumi up`",
    );
  }
  return configuredReceiver(parseReceiverConfig(outputs[output]), options);
}

function run(args: string[], options: { cwd: string | undefined; env: NodeJS.ProcessEnv }): Promise<string> {
  return new Promise((resolve, reject) => {
    const all = [...args, "--non-interactive", "--color=never"];
    execFile("pulumi", all, { ...options, maxBuffer: 64 * 2 ** 20 }, (cause, stdout, stderr) => {
      if (cause === null) resolve(stdout);
      else if (cause.code === "ENOENT")
        reject(
          new ReceiverConfigError(
            "PULUMI_MISSING",
            "pulumi cannot be run: install Pulumi's CLI and put it on PATH, and see that workDir is a folder",
          ),
        );
      // Not `cause`, which carries the outputs that were printed.
      else
        reject(
          new ReceiverConfigError(
            "STACK_UNREADABLE",
            `\`pulumi ${args.join(" ")}\` failed: ${stderr.trim()}`,
          ),
        );
    }).stdin?.end();
  });
}
