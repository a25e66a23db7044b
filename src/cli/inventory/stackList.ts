import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../../settlement/files";
import { backendOf, programFolder } from "../../settlement/stackName";
import { CliError } from "../errors";
import { type Pulumi, pulumiFailed } from "../oldPulumi";

const LIST_COMMAND = ["stack", "ls", "--json"];
const LIST_ALL_COMMAND = [...LIST_COMMAND, "--all"];

/** Why a project that has no stack yet has none to read. Those of other projects are not read either. */
export const NO_STACK = "the project has no stack in this backend";

/** Something that could not be read, such as "the stack prod", and why. */
export interface UnreadableStack {
  readonly what: string;
  readonly why: string;
}

interface ListedStack {
  readonly name: string;
  readonly current?: boolean;
}

export interface StackList {
  /** Those of this folder's project. */
  readonly own: readonly string[];
  readonly others: readonly string[];
  readonly selected?: string | undefined;
  readonly unreadable?: readonly UnreadableStack[];
  /** Why this folder's project has no stack to read, as the part of a sentence after "because". */
  readonly absence?: string | undefined;
}

/** Lists the stacks of this folder's project and, unless `projectOnly`, of all others. What cannot be listed is named as unreadable. */
export async function listStacks(pulumi: Pulumi, projectOnly: boolean): Promise<StackList> {
  try {
    const { value: listed, absence } = await pulumi.find<readonly ListedStack[]>(LIST_COMMAND, {
      ofStack: false,
    });
    if (absence !== undefined) return { own: [], others: [], absence };
    if (listed.length === 0) return { own: [], others: [], absence: NO_STACK };
    const current = listed.find((stack) => stack.current === true)?.name;
    // The stacks of this project have the same names here. One that is renamed now may be missing in the first list.
    const { all, unreadable } = projectOnly ? { all: [], unreadable: [] } : await allStacks(pulumi);
    return { own: namesOf(listed), others: namesOf(all), selected: pulumi.stack ?? current, unreadable };
  } catch (error) {
    return {
      own: [],
      others: [],
      selected: pulumi.stack,
      unreadable: [{ what: "the list of stacks", why: reasonOf(error) }],
    };
  }
}

/** Lists the stacks of all projects. Pulumi leaves out those whose folder it cannot read, and those of an older layout. */
async function allStacks(pulumi: Pulumi) {
  const result = await pulumi.run(LIST_ALL_COMMAND, { ofStack: false });
  if (result.exitCode !== 0) throw pulumiFailed(LIST_ALL_COMMAND, result);
  const unreadable = unlistedFolders();
  const [, legacy] = /legacy stack files.*\n((?: *- .*\n)+)/.exec(result.stderr) ?? [];
  for (const line of legacy?.trim().split("\n") ?? [])
    unreadable.push({
      what: `the stack ${line.replace(/^ *- /, "")}`,
      why: "it has the layout of an older Pulumi: run `pulumi state upgrade`",
    });
  return { all: pulumi.parse<ListedStack[]>(LIST_ALL_COMMAND, result.stdout), unreadable };
}

/** Returns the folders of projects in a backend of files that Pulumi leaves out: those that cannot be read, and links to folders. */
function unlistedFolders({ env } = process): UnreadableStack[] {
  const backend = backendOf({ environment: env, folder: programFolder(env) });
  if (!backend.startsWith("file://")) return [];
  const stacks = join(backend.slice("file://".length), ".pulumi", "stacks");
  return namesIn(stacks).flatMap((name) => {
    const what = `the folder of the project ${name} in the backend`;
    try {
      readdirSync(join(stacks, name));
      const isLink = lstatSync(join(stacks, name)).isSymbolicLink();
      return isLink ? [{ what, why: "it is a symbolic link, whose stacks Pulumi doesn't list" }] : [];
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === "ENOTDIR" || code === "ENOENT" ? [] : [{ what, why: code ?? String(error) }];
    }
  });
}

function namesOf(stacks: readonly ListedStack[]): string[] {
  return stacks.map(({ name }) => name);
}

/** Returns why something could not be read. */
export function reasonOf(error: unknown): string {
  return error instanceof CliError ? error.reason : String(error);
}
