/**
 * Returns the folder of the Pulumi CLI, or undefined if there is none (`npm run setup` installs one). Put it first on PATH: it holds
 * `pulumi` and what `pulumi` needs to run programs in Node.
 */
export function findCli(): string | undefined;
