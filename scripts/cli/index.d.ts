/**
 * The folder of the Pulumi CLI to use, or undefined where there is none (`npm run setup` gets one). Put first on
 * PATH, it gives `pulumi` and what `pulumi` needs to run programs in Node.
 */
export function findCli(): string | undefined;

/** Gets a Pulumi CLI where there is none; rejects with an error that says what would help. */
export function ensureCli(): Promise<void>;
