import { mayBeKey } from "../../shared/mayBeKey";
import { HIDDEN, shown } from "../../shared/shown";
import { parseReceiverConfig, type ReceiverConfig, ReceiverConfigError } from "../../stack";
import { parseConfig } from "../../stack/parse";
import type { Pulumi } from "../oldPulumi";

/** The configurations of receivers that a stack or a file of its outputs has. */
export interface Receivers {
  /** The one that was asked for. */
  readonly config: ReceiverConfig;
  /** The others, by the names of their outputs. */
  readonly others: ReadonlyMap<string, ReceiverConfig>;
}

interface ReceiversOptions {
  /** The name of the output that `receiverConfig` made. */
  readonly output: string;
  /** What the outputs belong to, such as "the stack". */
  readonly owner: string;
  /** The command that updates the stack of the outputs. Default: that of the selected stack. */
  readonly up?: string;
}

/**
 * Reads the receivers of a stack from its outputs, which `pulumi` decrypts.
 *
 * @throws CliError `PULUMI_MISSING` or `PULUMI_FAILED`
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`
 */
export async function readStackReceivers(pulumi: Pulumi, output: string): Promise<Receivers> {
  const outputs = await pulumi.json<Record<string, unknown>>(["stack", "output", "--json", "--show-secrets"]);
  const owner = pulumi.stack === undefined ? "the selected stack" : `the stack ${shown(pulumi.stack)}`;
  return receiversOf(outputs, { output, owner, up: pulumi.withStack("pulumi up") });
}

/** @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID` */
export function receiversOf(
  outputs: Readonly<Record<string, unknown>>,
  { output, owner, up = "pulumi up" }: ReceiversOptions,
): Receivers {
  if (!Object.hasOwn(outputs, output)) {
    const names = Object.keys(outputs).map(shown).join(", ") || "none";
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      `${owner} has no output ${mayBeKey(output) ? HIDDEN : output}; its outputs are: ${names}. Export what receiverConfig returns and run ` +
        `\`${up}\`, or name another output with --output`,
    );
  }
  const config = parseConfig(outputs[output], { where: `in the output ${shown(output)} of ${owner}` });
  const others = new Map<string, ReceiverConfig>();
  for (const [name, value] of Object.entries(outputs)) {
    const other = name === output ? undefined : parsed(value);
    if (other !== undefined) others.set(name, other);
  }
  return { config, others };
}

/** Returns the configuration that an output holds, or undefined if it holds something else. */
function parsed(value: unknown): ReceiverConfig | undefined {
  try {
    return parseReceiverConfig(value);
  } catch {
    return undefined;
  }
}
