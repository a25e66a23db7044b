import { isDeepStrictEqual } from "node:util";
import { type Deployment, type ExportedStack, type Resource, stackIn } from "../../settlement/deployment";
import type { Entry } from "../../settlement/entry";
import { backendOf, isAmbiguous, programFolder, projectName } from "../../settlement/stackName";
import { isEndpointToken } from "../../shared/permanent";
import { describeStackOf } from "../../shared/urn";
import { CliError } from "../errors";
import type { Pulumi } from "../oldPulumi";
import { listStacks, reasonOf, type StackList, type UnreadableStack } from "./stackList";

/** How many states are read at once. */
const MAX_EXPORTS = 8;
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

export interface ReadStacks extends Pick<StackList, "absence"> {
  readonly known: readonly KnownStack[];
  readonly unreadable: readonly UnreadableStack[];
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
  const { own, others, selected, unreadable = [], absence } = await listStacks(pulumi, projectOnly);
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

/** Returns whether the backend that these stacks are in no longer has the stack of an entry of the book. False if that is not sure. */
export function isStackRemoved(
  { stack, stackBegan }: Entry,
  { known, unreadable, absence }: ReadStacks,
  environment: NodeJS.ProcessEnv,
): boolean {
  const folder = programFolder(environment);
  if (unreadable.length > 0 || absence !== undefined || isAmbiguous(stack)) return false;
  if (stack.backend !== backendOf({ environment, folder })) return false;
  const name = `organization/${describeStackOf(stack.urn)}`;
  // Those of this folder's project have short names.
  const nameOf = (each: KnownStack) =>
    each.name.includes("/") ? each.name : `organization/${projectName(folder)}/${each.name}`;
  const named = known.find((each) => nameOf(each) === name);
  // Another one may have the name since, and no run has written it yet.
  const isNew = (each: KnownStack) => stackBegan !== undefined && isEmpty(each.deployment);
  return named === undefined || isNew(named);
}

function isEmpty({ resources = [], pending_operations = [] }: Deployment): boolean {
  return resources.length + pending_operations.length === 0;
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
