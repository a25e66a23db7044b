import { type Deployment, type Resource, StackState } from "../../provider/stackState";
import { isEndpointToken } from "../../shared/permanent";
import { CliError } from "../errors";
import { inParallel } from "../inParallel";
import type { Pulumi } from "../pulumi";
import type { Context } from "../run";

/** The newest format of states that is known. In another one, every endpoint of a stack would look like nobody's. */
const NEWEST_FORMAT = 4;
/** Why a project without a stack has none to read. Those of other projects may have endpoints nevertheless. */
export const NO_STACK = "the project has no stack in this backend";
const LIST = ["stack", "ls", "--json"];

/** A stack, as far as endpoints are concerned. */
export interface KnownStack {
  readonly name: string;
  /** Whether it is a stack of this folder's project. */
  readonly isOwn: boolean;
  /** Whether it is the selected stack, or the one that `--stack` names. */
  readonly isSelected: boolean;
  /** Its endpoints, also those that it only reads, and the operations on endpoints that no run has finished. */
  readonly deployment: Required<Deployment>;
  readonly state: StackState;
  /** The names of its outputs. */
  readonly outputs: readonly string[];
}

export interface Stacks {
  readonly known: readonly KnownStack[];
  /** What could not be read, such as "the stack prod", and why. */
  readonly unreadable: readonly { readonly what: string; readonly why: string }[];
  /** Why this folder's project has no stack to read, as the part of a sentence after "because". */
  readonly absence: string | undefined;
  /** Whether the stacks of all projects were to be read. */
  readonly all: boolean;
}

interface Exported {
  readonly version?: number;
  readonly deployment?: Deployment | null;
}

interface ListedStack {
  readonly name: string;
  readonly current?: boolean;
}

/**
 * Reads the states of this project's stacks or, with `all`, of all stacks of the backend, eight at a time. It needs no passphrase, and
 * never rejects: the result names what cannot be read.
 */
export async function readStacks(
  { output, pulumi }: Context,
  { all }: { readonly all: boolean },
): Promise<Stacks> {
  const known: KnownStack[] = [];
  const unreadable: { what: string; why: string }[] = [];
  const unread = (what: string) => (error: unknown) => {
    unreadable.push({ what, why: error instanceof CliError ? error.reason : String(error) });
    return undefined;
  };
  const project = pulumi.of(undefined);
  const found = await project.find<readonly ListedStack[]>(LIST).catch(unread("the list of stacks"));
  const own = found?.value ?? [];
  const others = all && found?.value ? await listOthers().catch(unread("the list of stacks")) : [];
  const stacks = [...own.map((each) => ({ ...each, isOwn: true })), ...(others ?? [])];
  const reading = inParallel(stacks, async ({ name, isOwn, current = false }) => {
    const isNamed = pulumi.stack === undefined ? current : shortName(name) === shortName(pulumi.stack);
    const state = await readStack(pulumi.of(name)).catch(unread(`the stack ${name}`));
    if (state !== undefined) known.push({ name, isOwn, isSelected: isOwn && isNamed, ...state });
  });
  await output.during(
    () => `Reading the states: ${known.length + unreadable.length} of ${stacks.length} stacks read…`,
    reading,
  );
  // It may be the wrong backend: there, every endpoint would look like nobody's.
  const absence = found?.absence ?? (found?.value.length === 0 ? NO_STACK : undefined);
  return { known: known.sort((a, b) => (a.name < b.name ? -1 : 1)), unreadable, absence, all };

  async function listOthers() {
    const { stdout, stderr } = await project.run([...LIST, "--all"]);
    if (/legacy stack files/.test(stderr))
      unread("a stack of an older Pulumi")("run `pulumi state upgrade` first");
    const listed = JSON.parse(stdout) as readonly ListedStack[];
    return listed
      .filter(({ name }) => own.every((each) => each.name !== name))
      .map(({ name }) => ({ name, isOwn: false, current: false }));
  }
}

/** A backend may have gigabytes of states, so only what is about endpoints is kept. @throws CliError */
async function readStack(pulumi: Pulumi): Promise<Pick<KnownStack, "deployment" | "state" | "outputs">> {
  const exported = await pulumi.json<Exported | null>(["stack", "export"]);
  const { version, deployment } = exported ?? {};
  if (version === undefined || version > NEWEST_FORMAT)
    throw new CliError(
      "STACK_UNREADABLE",
      `its state has an unknown format (version ${version}). Update this package`,
    );
  const resources: readonly Resource[] = deployment?.resources ?? [];
  const operations = deployment?.pending_operations ?? [];
  const kept = {
    resources: resources.filter(({ type }) => isEndpointToken(type)),
    pending_operations: operations.filter(({ resource }) => isEndpointToken(resource.type)),
  };
  const root = resources.find(({ type }) => type === "pulumi:pulumi:Stack");
  return { deployment: kept, state: new StackState(kept), outputs: Object.keys(root?.outputs ?? {}) };
}

/** Returns a stack's name as `pulumi.getStack()` does, without organization and project. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Returns why not every stack was read that was to be read; undefined if each was. */
export function whyUnread({ unreadable: [first], absence }: Stacks): string | undefined {
  return first === undefined ? absence : `${first.what} cannot be read: ${first.why}`;
}
