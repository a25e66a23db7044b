import type { Deployment } from "../../src/provider/facts/exportedState";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";
import type { Stack } from "./engineModel";

/**
 * What an export shows of a run under way:
 * - `so far`: what it has done, and the operations that it has begun, as a folder does
 * - `before`: the state before it, and what it did once it has ended, as a service may that keeps journals
 * - `no operations`: what it has done, and never an operation, as Pulumi Cloud does for a CLI without journals
 */
export type Shows = "so far" | "before" | "no operations";
export const SHOWS: readonly Shows[] = ["so far", "before", "no operations"];

/** Pulumi's own command, for one stack: in a folder or, where an export does not show what is under way, in Pulumi Cloud. */
export class PulumiModel {
  /** Whether it works. */
  isThere = true;
  /** The other stacks of the backend, by their full names; null for one that cannot be read. */
  others: Readonly<Record<string, Deployment | null>> = {};
  /** What it exported, in this order. */
  readonly exports: Deployment[] = [];
  /** Its full names by the organizations that have a stack of this project and name, and whether an update of it is under way. */
  listed: () => readonly { readonly name: string; readonly updateInProgress?: boolean }[];
  /** What it exports. */
  exported: (name: string) => Deployment;
  /** The state before the update under way. */
  #before: Deployment | undefined;

  constructor(
    stack: Stack,
    private readonly shows: Shows,
  ) {
    if (shows !== "so far") stack.organization = "acme";
    const isCloud = shows !== "so far";
    const name = `${stack.organization}/test/dev`;
    this.listed = () => [{ name, ...(isCloud && { updateInProgress: this.#before !== undefined }) }];
    this.exported = () => {
      const now = stack.deployment;
      if (shows === "before") return this.#before ?? now;
      return shows === "no operations" ? { resources: now.resources ?? [] } : now;
    };
  }

  /** Whether a killed run leaves its operations. */
  get showsOperations(): boolean {
    return this.shows !== "no operations";
  }

  /** Notes that an update begins, of a stack in this state, or that it has ended. */
  update(before: Deployment | undefined): void {
    this.#before = before;
  }

  readonly run = async (args: readonly string[]): Promise<PulumiCommandResult> => {
    const printed = (value: unknown) => ({ exitCode: 0, stdout: JSON.stringify(value), stderr: "" });
    if (!this.isThere) throw new Error("no pulumi on PATH");
    if (args.includes("--all"))
      return printed([
        ...this.listed(),
        ...Object.keys(this.others).map((name) => ({ name, resourceCount: 2 })),
      ]);
    if (args[1] === "ls") return printed(this.listed());
    const other = this.others[args.at(-1) ?? ""];
    if (other === null) throw new Error("it is denied");
    if (other !== undefined) return printed({ version: 3, deployment: other });
    const deployment = this.exported(args.at(-1) ?? "");
    this.exports.push(deployment);
    return printed({ version: 3, deployment });
  };
}
