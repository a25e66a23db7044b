import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Deployment, type ExportedStack, type Resource, stackIn } from "../../settlement/deployment";
import { namesIn } from "../../settlement/files";
import { backendOf, programFolder } from "../../settlement/stackName";
import { isEndpointToken } from "../../shared/permanent";
import { CliError } from "../errors";
import { type Pulumi, pulumiFailed } from "../pulumi";

/** How many states are read at once. */
const MAX_EXPORTS = 8;
const LIST_COMMAND = ["stack", "ls", "--json"];
const LIST_ALL_COMMAND = [...LIST_COMMAND, "--all"];
const STACK_TYPE = "pulumi:pulumi:Stack";
/** The last version of the format of states whose resources are known to stand where they are looked for. */
const LATEST_VERSION = 4;

/** Which stacks to read. */
export interface StackScope {
  /** Stacks of other organizations. */
  readonly alsoStacks: readonly string[];
  /** Leaves out the other projects of the backend. Default: false. */
  readonly projectOnly?: boolean | undefined;
}

/** A stack and its state, whose secrets are encrypted. */
export interface KnownStack {
  readonly name: string;
  /** True for the stack whose settings are used. */
  readonly isSelected: boolean;
  /** True if it is a stack of this folder's project, or one that the user named. */
  readonly isOwn: boolean;
  /** Whether Pulumi's command finds the stack in this folder. One of another project is found in that project's folder only. */
  readonly isHere: boolean;
  /** Of resources that are no endpoints, it has only what identifies them. */
  readonly deployment: Deployment;
}

/** Why a project that has no stack yet has none to read. Those of other projects are not read either. */
export const NO_STACK = "the project has no stack in this backend";

/** Something that could not be read, such as "the stack prod", and why. */
interface UnreadableStack {
  readonly what: string;
  readonly why: string;
}

export interface ReadStacks {
  readonly known: readonly KnownStack[];
  readonly unreadable: readonly UnreadableStack[];
  /** Why this folder's project has no stack to read, as the part of a sentence after "because". */
  readonly absence?: string | undefined;
}

/**
 * Reads the states of all stacks of the backend, several at a time. The result names those that cannot be read.
 *
 * @param onRead called after each
 */
export async function readStacks(
  pulumi: Pulumi,
  { alsoStacks, projectOnly = false }: StackScope,
  onRead: (read: number, all: number) => void = () => {},
): Promise<ReadStacks> {
  const { own, others, selected, unreadable = [], absence } = await stackNames(pulumi, projectOnly);
  const here = [...own, ...(selected === undefined ? [] : [selected])];
  const named = [...here, ...alsoStacks];
  const names = [...new Set([...named, ...others])];
  const waiting = [...names];
  const known: KnownStack[] = [];
  const failed: UnreadableStack[] = [...unreadable];
  const readNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      try {
        const deployment = await readState(pulumi.of(name));
        known.push({
          ...{ name, deployment, isSelected: name === selected },
          ...{ isOwn: named.includes(name), isHere: here.includes(name) },
        });
      } catch (error) {
        failed.push({ what: `the stack ${name}`, why: reasonOf(error) });
      }
      onRead(known.length + failed.length, names.length);
    }
  };
  await Promise.all(Array.from({ length: MAX_EXPORTS }, readNext));
  const stacks = eachOnce(known, new Set([...own, ...others]));
  return { known: stacks.sort((a, b) => (a.name < b.name ? -1 : 1)), unreadable: failed, absence };
}

/**
 * Returns each stack once, by the name that the backend lists: the user may have named `dev` as `organization/shop/dev`. Two organizations
 * may have a project and a stack of the same names, so only equal states show that it is one stack. Nothing is lost with one of them.
 */
function eachOnce(stacks: readonly KnownStack[], listed: ReadonlySet<string>): KnownStack[] {
  const distinct = stacks.filter(({ name }) => listed.has(name));
  for (const stack of stacks.filter(({ name }) => !listed.has(name))) {
    const { deployment, isSelected, isOwn, isHere } = stack;
    const at = distinct.findIndex(
      (each) => stackIn(deployment) !== undefined && isDeepStrictEqual(each.deployment, deployment),
    );
    const same = distinct[at];
    if (same === undefined) distinct.push(stack);
    else
      distinct[at] = {
        ...same,
        isSelected: same.isSelected || isSelected,
        isOwn: same.isOwn || isOwn,
        isHere: same.isHere || isHere,
      };
  }
  return distinct;
}

/** Returns the URL of the backend, without what it may hold besides its place; null if the CLI does not tell. */
export async function readBackend(pulumi: Pulumi): Promise<string | null> {
  const { url } = await pulumi
    .json<{ readonly url?: unknown }>(["whoami", "--json"], { ofStack: false })
    .catch(() => ({ url: undefined }));
  return typeof url === "string"
    ? url.replace(/^([a-z0-9+.-]+:\/\/)[^/?#]*@/i, "$1").replace(/[?#].*$/s, "")
    : null;
}

interface ListedStack {
  readonly name: string;
  readonly current?: boolean;
}

interface StackNames extends Partial<Pick<ReadStacks, "unreadable" | "absence">> {
  /** Those of this folder's project. */
  readonly own: readonly string[];
  readonly others: readonly string[];
  readonly selected?: string | undefined;
}

async function stackNames(pulumi: Pulumi, projectOnly: boolean): Promise<StackNames> {
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

/** Returns the folders of projects in a backend of files that cannot be read, such as another user's. */
function unlistedFolders({ env } = process): UnreadableStack[] {
  const backend = backendOf({ environment: env, folder: programFolder(env) });
  if (!backend.startsWith("file://")) return [];
  const stacks = join(backend.slice("file://".length), ".pulumi", "stacks");
  return namesIn(stacks).flatMap((name) => {
    try {
      readdirSync(join(stacks, name));
      return [];
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === "ENOTDIR" || code === "ENOENT"
        ? []
        : [{ what: `the folder of the project ${name} in the backend`, why: code ?? String(error) }];
    }
  });
}

function namesOf(stacks: readonly ListedStack[]): string[] {
  return stacks.map(({ name }) => name);
}

/** In a format that is unknown, every endpoint of the stack would look like an orphan. @throws CliError */
async function readState(pulumi: Pulumi): Promise<Deployment> {
  const exported = await pulumi.json<Partial<ExportedStack> | null>(["stack", "export"]);
  const { version } = exported ?? {};
  if (version === undefined || version > LATEST_VERSION)
    throw new CliError(
      "STATE_UNREADABLE",
      `the format of its state is unknown (version ${version ?? "missing"}). Update pulumi-webhook-endpoints`,
    );
  // A stack that no run has written may have null for any of these.
  const { resources, pending_operations, ...deployment } = exported?.deployment ?? {};
  return {
    ...deployment,
    resources: (resources ?? []).map(trimmed),
    pending_operations: pending_operations ?? [],
  };
}

/** A backend may have gigabytes of states. */
function trimmed(resource: Resource): Resource {
  const { urn, type, id } = resource;
  if (isEndpointToken(type) || type === STACK_TYPE) return resource;
  return { urn, type, ...(id === undefined ? {} : { id }) };
}

function reasonOf(error: unknown): string {
  return error instanceof CliError ? error.reason : String(error);
}
