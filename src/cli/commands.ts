import type { Listed } from "./run";

/** The subcommands, in the order of the help. */
export const COMMANDS: Record<string, Listed> = {};
