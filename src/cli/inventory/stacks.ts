import { createHash } from "node:crypto";
import {
  type Deployment,
  hasEndpoint,
  providerNameOf,
  type Resource,
} from "../../provider/facts/exportedState";
import { mayHaveEndpoint, StackState } from "../../provider/facts/stackState";
import { inParallel } from "../../shared/inParallel";
import { isEndpointToken } from "../../shared/permanent";
import { stackOf } from "../../shared/urn";
import { CliError } from "../errors";
import type { Pulumi } from "../pulumi";
import type { Context } from "../run";
import { type ListedStack, type Work, WorkQuestion } from "./runUnderWay";

/** The newest format of states that is known. In a newer one, every endpoint of a stack would look like nobody's. */
const NEWEST_FORMAT = 4;
/** It may be the wrong backend: there, every endpoint would look like nobody's. Other projects' stacks may have endpoints nevertheless. */
export const NO_STACK = "this folder has no project with a stack in this backend";

/** The url of a folder, a bucket or a database. */
const OWN_BACKEND = /^(?!https?:)[a-z]\w*:\/\//i;

const NOBODY: Work = { kind: "none", mayRun: false, who: "" };

/** A stack, as far as endpoints are concerned. */
export interface KnownStack {
  readonly name: string;
  /** True for a stack of this folder's project. */
  readonly isOwn: boolean;
  /** True for the selected stack, or the one that `--stack` names. */
  readonly isSelected: boolean;
  /** Its endpoints, also those that it only reads, and the operations on endpoints that no run has finished. */
  readonly deployment: Required<Deployment>;
  readonly state: StackState;
  /** True if its state has no resource at all, not even the stack's own: as before the first run, and after a destroy. */
  readonly isEmpty: boolean;
  /** The names of its outputs. */
  readonly outputs: readonly string[];
  /**
   * Whether a run works on it. Asked only if its state has something open, Pulumi Cloud lists an update, by doctor, or before endpoints are deleted
   * or adopted.
   */
  readonly work: Work;
}

interface Unreadable {
  /** The stack's name; undefined if it is the list of stacks that cannot be read. */
  readonly stack: string | undefined;
  /** What cannot be read, and why: such as "the stack prod cannot be read: it is denied". */
  readonly why: string;
}

export interface Stacks {
  readonly known: readonly KnownStack[];
  readonly unreadable: readonly Unreadable[];
  /** Why no stack of this folder's project can be read, as the part of a sentence after "because". */
  readonly whyNone: string | undefined;
  /** Why an endpoint that no known stack has may be another stack's; undefined if each stack of the backend was read. */
  readonly gap: string | undefined;
  /** Whose view of Pulumi Cloud this is, whose list has only the stacks that the user may read; undefined for another backend. */
  readonly viewer: string | undefined;
}

/**
 * Reads the states of this project's stacks or, with `all`, of all stacks of the backend, eight at a time. It needs no passphrase, and
 * never rejects: the result names what cannot be read.
 *
 * @param orphans as `all`, and asks of every stack whether a run works on it
 * @param asksWork asks that of each stack of this project. Otherwise it is asked only of one whose state shows something open
 */
export async function readStacks(
  context: Context,
  {
    orphans = false,
    asksWork = false,
    ...given
  }: { readonly all: boolean; readonly orphans?: boolean; readonly asksWork?: boolean },
): Promise<Stacks> {
  const { output, pulumi } = context;
  const all = given.all || orphans;
  const known: KnownStack[] = [];
  const unreadable: Unreadable[] = [];
  const unread = (what: string, stack?: string) => (error: unknown) => {
    const why = `${what} cannot be read: ${error instanceof CliError ? error.detail : error}`;
    unreadable.push({ stack, why });
    return undefined;
  };
  const list = ["stack", "ls", "--json", ...(all ? ["--all"] : [])];
  const listStacks = () => pulumi.forStack(undefined).find<readonly ListedStack[]>(list);
  const listed = await listStacks().catch(unread("the list of stacks"));
  if (/legacy stack files/.test(listed?.stderr ?? ""))
    unread("a stack of an older Pulumi")("run `pulumi state upgrade` first");
  // Pulumi names the project of a stack only if it is not this folder's.
  const stacks = (listed?.value ?? []).map((each) => ({ ...each, isOwn: each.name.split("/").length < 3 }));
  const question = new WorkQuestion(context, async () => (await listStacks()).value ?? []);
  const isListed = orphans && listed?.value !== undefined;
  const viewer = isListed ? await viewerOf(pulumi).catch(unread("the name of the user")) : undefined;
  const own = stacks.filter(({ isOwn }) => isOwn).map(({ name }) => name);
  const named = pulumi.stack && listedName(pulumi.stack, own);
  const reading = inParallel(stacks, async ({ isOwn, ...each }) => {
    const { name, current = false } = each;
    const isSelected = isOwn && (named === undefined ? current : name === named);
    const read = () => readStack(pulumi.forStack(name));
    const exported = await read().catch(unread(`the stack ${name}`, name));
    if (exported === undefined) return;
    const { shown, ...state } = exported;
    const hasChanged = async () => (await read()).shown.fingerprint !== shown.fingerprint;
    const asked = { listed: each, stack: shortName(name), ...shown, hasChanged };
    // Pulumi Cloud may show the state before the run.
    const isAsked = shown.isOpen || orphans || (asksWork && isOwn) || each.updateInProgress;
    const work = isAsked ? await question.of(asked) : NOBODY;
    known.push({ name, isOwn, isSelected, ...state, work });
  });
  const progress = () =>
    `Reading the states: ${known.length + unreadable.length} of ${stacks.length} stacks read…`;
  await output.during(progress, reading);
  const whyNone = listed?.whyNone ?? (listed && !stacks.some(({ isOwn }) => isOwn) ? NO_STACK : undefined);
  const gap = unreadable[0]?.why ?? whyNone ?? (all ? undefined : "no stack of this project");
  return { known: known.sort((a, b) => (a.name < b.name ? -1 : 1)), unreadable, whyNone, gap, viewer };
}

/** Returns the selected stack of this project, if there is one and it could be read. */
export function selectedIn(known: readonly KnownStack[]): KnownStack | undefined {
  return known.find(({ isSelected }) => isSelected);
}

/** Returns the resources of a stack that have an endpoint, and use its own settings instead of those of a WebhooksProvider. */
export function recordedWithSettings({ state }: KnownStack): Resource[] {
  return state.endpoints.filter((each) => providerNameOf(each) === undefined && hasEndpoint(each));
}

/** Returns the name of Pulumi Cloud's user; undefined for another backend. */
async function viewerOf(pulumi: Pulumi): Promise<string | undefined> {
  const { user, url = "" } = await pulumi.login();
  return OWN_BACKEND.test(url) ? undefined : user;
}

/** Returns what the list calls a stack of this project that the user named: it leaves out the project, and the default organization. */
function listedName(given: string, own: readonly string[]): string {
  const withoutProject = given.replace(/\/.*\//, "/");
  return own.includes(withoutProject) ? withoutProject : shortName(given);
}

/** A backend may have gigabytes of states, so only what is about endpoints is kept. @throws CliError */
async function readStack(pulumi: Pulumi) {
  type Exported = { readonly version?: number; readonly deployment?: Deployment | null } | null;
  const { value } = await pulumi.find<Exported>(["stack", "export"]);
  const { version, deployment } = value ?? {};
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
  const state = new StackState({ ...kept, resources: resources.filter(mayHaveEndpoint) });
  const [any = operations[0]?.resource] = resources;
  const hasOperations = operations.length > 0;
  const isOpen = hasOperations || state.unanswered.length > 0;
  const fingerprint = isOpen ? createHash("sha256").update(JSON.stringify(deployment)).digest("hex") : "";
  const shown = { project: any && stackOf(any.urn).project, hasOperations, isOpen, fingerprint };
  const isEmpty = resources.length === 0;
  return { deployment: kept, state, isEmpty, outputs: Object.keys(root?.outputs ?? {}), shown };
}

/** Returns a stack's name as `pulumi.getStack()` does, without organization and project. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
