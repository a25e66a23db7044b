import { CliError } from "./errors";
import { type Pulumi, pulumiFailed } from "./pulumi";

/** A stack's configuration, its secrets decrypted, as `pulumi config --json --show-secrets` prints it. */
export type StackConfiguration = Readonly<
  Record<string, { readonly value?: string; readonly secret?: boolean }>
>;

const COMMAND = ["config", "--json", "--show-secrets"];
const NO_PROJECT = /no Pulumi\.yaml project file found/;
const NO_STACK = /no stack selected/;

/** Returns the configuration of the stack. @throws CliError `PULUMI_MISSING` or `PULUMI_FAILED` */
export function readConfiguration(pulumi: Pulumi): Promise<StackConfiguration> {
  return pulumi.json(COMMAND);
}

/** A configuration, or why this folder has none, as the part of a sentence after "because". */
export type FoundConfiguration =
  | { readonly configuration: StackConfiguration; readonly absence?: undefined }
  | { readonly configuration?: undefined; readonly absence: string };

/**
 * Returns the configuration of the stack in this folder, if there is one. A stack that the user named must exist.
 *
 * @throws CliError `PULUMI_MISSING` or `PULUMI_FAILED`
 */
export async function findConfiguration(pulumi: Pulumi): Promise<FoundConfiguration> {
  if (pulumi.stack !== undefined) return { configuration: await readConfiguration(pulumi) };
  try {
    const result = await pulumi.run(COMMAND);
    if (result.exitCode === 0)
      return { configuration: pulumi.parse<StackConfiguration>(COMMAND, result.stdout) };
    const absence = absenceOf(result.stderr);
    if (absence === undefined) throw pulumiFailed(COMMAND, result);
    return { absence };
  } catch (error) {
    if (error instanceof CliError && error.code === "PULUMI_MISSING")
      return { absence: "the command pulumi was not found on PATH" };
    throw error;
  }
}

/** Returns why a command found no stack, or undefined if it failed for another reason. */
export function absenceOf(stderr: string): string | undefined {
  if (NO_PROJECT.test(stderr)) return "this folder has no Pulumi project";
  return NO_STACK.test(stderr) ? "no stack is selected" : undefined;
}
