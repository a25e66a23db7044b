import type { Found, Pulumi } from "./pulumi";

/** A stack's configuration, its secrets decrypted, as `pulumi config --json --show-secrets` prints it. */
export type StackConfiguration = Readonly<
  Record<string, { readonly value?: string; readonly secret?: boolean }>
>;

const COMMAND = ["config", "--json", "--show-secrets"];

/** Returns the configuration of the stack. @throws CliError `PULUMI_MISSING` or `PULUMI_FAILED` */
export function readConfiguration(pulumi: Pulumi): Promise<StackConfiguration> {
  return pulumi.json(COMMAND);
}

/**
 * Returns the configuration of the stack in this folder, if there is one. A stack that the user named must exist.
 *
 * @throws CliError `PULUMI_MISSING` or `PULUMI_FAILED`
 */
export async function findConfiguration(pulumi: Pulumi): Promise<Found<StackConfiguration>> {
  return pulumi.stack === undefined ? pulumi.find(COMMAND) : { value: await readConfiguration(pulumi) };
}

/** Looks up settings in a configuration that was found. */
export function settingsIn({ value }: Found<StackConfiguration>): (name: string) => string | undefined {
  return (name) => value?.[name]?.value;
}
