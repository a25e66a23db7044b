import { quoted } from "../../shared/commandLine";
import type { Pulumi } from "../pulumi";
import type { Context } from "../run";
import { folderOf, type Holder, holderOfLocks, type StackName } from "./locks";

/** How far two exports are apart, in milliseconds. A run writes the state after each resource. */
const BETWEEN_EXPORTS_MS = 3_000;

/** Whether a run works on a stack. */
export interface Work extends Holder {
  /** Whether a run may be registering endpoints. Of the unknown, an operation that has not ended tells. */
  readonly mayRun: boolean;
}

/** A stack as `pulumi stack ls` lists it. Only Pulumi Cloud gives the last two. */
export interface ListedStack {
  readonly name: string;
  readonly current?: boolean;
  readonly updateInProgress?: boolean;
  readonly url?: string;
}

/** A stack, and what its state shows. */
interface Questioned extends StackName {
  readonly listed: ListedStack;
  /** Whether an operation in its state has not ended. */
  readonly hasOperations: boolean;
  /** Whether the state shows anything that a run may have left, or may be about to end. */
  readonly isOpen: boolean;
  /** Reads the state again, and returns whether it is another one. */
  readonly hasChanged: () => Promise<boolean>;
}

/** Finds out whether somebody is at work, for the stacks of one backend at one moment. */
export class WorkQuestion {
  readonly #context: Context;
  readonly #listAgain: () => Promise<readonly ListedStack[]>;
  #folder: Promise<string | undefined> | undefined;

  /** @param listAgain lists the same stacks anew */
  constructor(context: Context, listAgain: () => Promise<readonly ListedStack[]>) {
    this.#context = context;
    this.#listAgain = listAgain;
  }

  /** Asks after the state was read, because a run may have begun or ended since the stacks were listed. Never rejects. */
  async of(stack: Questioned): Promise<Work> {
    const holder = await this.#answerFor(stack).catch((): Holder => ({ kind: "unknown", who: "" }));
    const { kind } = holder;
    const mayRun =
      kind === "under way" || kind === "held elsewhere" || (kind === "unknown" && stack.hasOperations);
    return { ...holder, mayRun };
  }

  async #answerFor(stack: Questioned): Promise<Holder> {
    const holder = await this.#holderOf(stack);
    const isCertain = holder.kind === "under way" || holder.kind === "held elsewhere";
    if (isCertain || !stack.isOpen) return holder;
    // The run whose operations the state shows may have ended since. And a lock may be that of a container, whose processes nobody sees.
    if (holder.kind !== "none") await this.#context.pause(BETWEEN_EXPORTS_MS);
    return (await stack.hasChanged()) ? { kind: "under way", who: "its state has just changed" } : holder;
  }

  #holderOf(stack: Questioned): Promise<Holder> {
    const { updateInProgress, url } = stack.listed;
    return updateInProgress === undefined && url === undefined
      ? this.#holderOfLock(stack)
      : this.#holderInCloud(stack);
  }

  async #holderInCloud({ listed, isOpen }: Questioned): Promise<Holder> {
    const later = isOpen && !listed.updateInProgress ? await this.#listAgain() : [];
    const isUpdating = ({ name, updateInProgress }: ListedStack) => name === listed.name && updateInProgress;
    return [listed, ...later].some(isUpdating)
      ? { kind: "under way", who: await describeUpdate(this.#context.pulumi.forStack(listed.name)) }
      : { kind: "none", who: "" };
  }

  async #holderOfLock(stack: Questioned): Promise<Holder> {
    this.#folder ??= folderOf(this.#context);
    const folder = await this.#folder;
    if (folder === undefined) return { kind: "unknown", who: "" };
    return holderOfLocks(folder, stack);
  }
}

/** Says who began the update of a stack in Pulumi Cloud, as far as its command prints it, and what frees the stack of a killed one. */
async function describeUpdate(pulumi: Pulumi): Promise<string> {
  const { stdout } = await pulumi.run(["stack"]).catch(() => ({ stdout: "" }));
  const [, began] = /^\s+Started: (.+)$/m.exec(stdout) ?? [];
  const [, author] = /^\s+Requested By: (.+)$/m.exec(stdout) ?? [];
  const known = [author && `requested by ${author}`, began && `started ${began}`].filter(Boolean);
  const freeing = `if it was killed, it holds the stack for five minutes, or until \`${pulumi.withStack("pulumi cancel --yes")}\``;
  return `${known.join(", ")}${known.length > 0 ? "; " : ""}${freeing}`;
}

/** Returns what a message says of a run that may be under way. */
export function describeWork(stack: string, { kind, who }: Pick<Work, "kind" | "who">): string {
  const known = who && `: ${who}`;
  if (kind === "under way") return `a run of the stack ${stack} is under way${known}`;
  if (kind === "held elsewhere")
    return `the stack ${stack} is locked, and only that machine knows whether the run still works${known}`;
  return `a run of the stack ${stack} may be under way`;
}

/** Returns the command that ends the lock of a run that has ended, to write before another one; "" if there is none. */
export function unlocking(stack: string, { kind }: Pick<Work, "kind">): string {
  return kind === "dead" ? `pulumi cancel --yes --stack ${quoted(stack)} && ` : "";
}
