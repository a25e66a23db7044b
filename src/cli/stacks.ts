import type { Deployment, ExportedStack } from "../settlement/deployment";
import { absenceOf } from "./configuration";
import { CliError } from "./errors";
import { type Pulumi, pulumiFailed } from "./pulumi";

/** How many states are read at once. */
const MAX_EXPORTS = 4;
const LIST_COMMAND = ["stack", "ls", "--json"];
const LIST_ALL_COMMAND = [...LIST_COMMAND, "--all"];

/** Where to look for stacks: in this folder's project, or in every project of the backend. */
export type StackScope = "project" | "backend";

/** A stack and its state, whose secrets are encrypted. */
export interface KnownStack {
  readonly name: string;
  /** True for the stack whose settings are used. */
  readonly isSelected: boolean;
  readonly deployment: Deployment;
}

/** Something that could not be read, such as "the stack prod", and why. */
export interface UnreadableStack {
  readonly what: string;
  readonly why: string;
}

export interface Stacks {
  readonly known: readonly KnownStack[];
  readonly unreadable: readonly UnreadableStack[];
  /** Why this folder's project has no stack to read, as the part of a sentence after "because". */
  readonly absence?: string | undefined;
}

/** Reads the states of all stacks of this folder's project or backend, and of other stacks. The result names those that cannot be read. */
export async function readStacks(
  pulumi: Pulumi,
  alsoStacks: readonly string[],
  scope: StackScope = "project",
): Promise<Stacks> {
  const { names, selected, unreadable = [], absence } = await stackNames(pulumi, scope);
  const waiting = [...new Set([...names, ...(selected === undefined ? [] : [selected]), ...alsoStacks])];
  const known: KnownStack[] = [];
  const failed: UnreadableStack[] = [...unreadable];
  const readNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      try {
        known.push({ name, isSelected: name === selected, deployment: await readState(pulumi.of(name)) });
      } catch (error) {
        failed.push({ what: `the stack ${name}`, why: reasonOf(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_EXPORTS }, readNext));
  return { known: known.sort((a, b) => (a.name < b.name ? -1 : 1)), unreadable: failed, absence };
}

interface ListedStack {
  readonly name: string;
  readonly current?: boolean;
}

interface StackNames extends Partial<Pick<Stacks, "unreadable" | "absence">> {
  readonly names: readonly string[];
  readonly selected?: string | undefined;
}

async function stackNames(pulumi: Pulumi, scope: StackScope): Promise<StackNames> {
  try {
    const result = await pulumi.run(LIST_COMMAND, { ofStack: false });
    if (result.exitCode !== 0) {
      const absence = absenceOf(result.stderr);
      if (absence === undefined) throw pulumiFailed(LIST_COMMAND, result);
      return { names: [], absence };
    }
    const listed = pulumi.parse<readonly ListedStack[]>(LIST_COMMAND, result.stdout);
    if (listed.length === 0) return { names: [], absence: "the project has no stack in this backend" };
    const current = listed.find((stack) => stack.current === true)?.name;
    // The same stacks have the same names here.
    const all =
      scope === "project" ? listed : await pulumi.json<ListedStack[]>(LIST_ALL_COMMAND, { ofStack: false });
    return { names: all.map(({ name }) => name), selected: pulumi.stack ?? current };
  } catch (error) {
    if (error instanceof CliError && error.code === "PULUMI_MISSING")
      return { names: [], absence: "the command pulumi was not found on PATH" };
    return {
      names: [],
      selected: pulumi.stack,
      unreadable: [{ what: "the list of stacks", why: reasonOf(error) }],
    };
  }
}

async function readState(pulumi: Pulumi): Promise<Deployment> {
  const { deployment } = await pulumi.json<Partial<ExportedStack>>(["stack", "export"]);
  return deployment ?? {};
}

function reasonOf(error: unknown): string {
  return error instanceof CliError ? error.reason : String(error);
}
