/**
 * Returns the folder of the Pulumi CLI, or undefined if there is none (`npm run setup` installs one). Put it first on PATH: it holds
 * `pulumi` and what `pulumi` needs to run programs in Node.
 */
export function findCli(): string | undefined;

/** Installs a Pulumi CLI if there is none. Rejects with an error that says what to do. */
export function ensureCli(): Promise<void>;
