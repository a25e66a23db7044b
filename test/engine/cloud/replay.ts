import { createHash } from "node:crypto";
import type { StateResource } from "../project";

/** A resource of a state, as far as replaying one reads it. */
export interface SavedResource extends StateResource {
  parent?: string | undefined;
  aliases?: string[];
  dependencies?: string[] | undefined;
  propertyDependencies?: Record<string, string[] | null>;
  deletedWith?: string;
  delete?: boolean;
  pendingReplacement?: boolean;
  [field: string]: unknown;
}

interface Operation {
  readonly type: string;
  readonly resource: SavedResource;
}

/** What a stack holds: `deployment` of what `pulumi stack export` prints. */
export interface SavedState {
  readonly resources?: readonly SavedResource[] | null;
  readonly pending_operations?: readonly Operation[] | null;
  readonly secrets_providers?: unknown;
  readonly metadata?: object;
  readonly [field: string]: unknown;
}

/** An entry of an update's journal. Resources of the state before it are counted, new ones are named by the operation that made them. */
export interface JournalEntry {
  readonly kind: number;
  readonly sequenceID: number;
  readonly operationID: number;
  readonly operation?: Operation;
  readonly state?: SavedResource;
  readonly removeOld?: number;
  readonly removeNew?: number;
  readonly deleteOld?: number;
  readonly deleteNew?: number;
  readonly pendingReplacementOld?: number;
  readonly pendingReplacementNew?: number;
  readonly isRefresh?: boolean;
  readonly secretsProvider?: unknown;
  readonly newSnapshot?: SavedState;
}

/** The fields whose effect on a state no recorded journal shows. */
const UNRECORDED_FIELDS = ["refreshBeforeUpdate", "viewOf", "taint", "extensionRef", "snippetID"];
/** As the CLI writes it: a manifest says who wrote a state, and the hash of that. */
const VERSION = "v3.255.0";

/**
 * Returns the state that an update's journal makes of the state before it: the service's part in journaling. It follows `JournalReplayer`
 * of the CLI (pkg/backend/journal.go, 3.255) as far as recorded journals show that both do the same, and refuses every other entry.
 */
export function replay(base: SavedState, entries: readonly JournalEntry[]): SavedState {
  const replayer = new Replayer(base);
  for (const entry of [...entries].sort((a, b) => a.sequenceID - b.sequenceID)) replayer.add(entry);
  return replayer.state();
}

class Replayer {
  #base: SavedState;
  #hasRefresh = false;
  /** What to do with resources of the base, by their position. */
  #old = new Map<number, "drop" | { readonly replacement: SavedResource }>();
  #marks = new Map<number, { delete?: true; pendingReplacement?: true }>();
  /** By the operation that made them. */
  #news = new Map<number, SavedResource>();
  /** Of the new ones, those that are gone again, whatever is said of them later. */
  #removed = new Set<number>();
  #begun = new Map<number, JournalEntry>();

  constructor(base: SavedState) {
    this.#base = structuredClone(base);
  }

  add(given: JournalEntry): void {
    // What is not said is null.
    const said = Object.entries(structuredClone(given)).filter(([, value]) => value !== null);
    const entry = Object.fromEntries(said) as unknown as JournalEntry;
    const { kind, operationID } = entry;
    // 1: success; 2: failure; 3: success of a refresh
    if (kind === 1 || kind === 2 || kind === 3) this.#begun.delete(operationID);
    if (kind === 0) this.#begun.set(operationID, entry);
    else if (kind === 1) this.#succeed(entry);
    else if (kind === 3) this.#refresh(entry);
    else if (kind === 4 && entry.state) this.#replace(entry, entry.state);
    else if (kind === 6) this.#base = { ...this.#base, secrets_providers: entry.secretsProvider };
    else if (kind === 7) this.#rebase();
    else if (kind !== 2)
      throw new Error(`a journal entry of a kind that was never recorded: ${JSON.stringify(entry)}`);
  }

  #succeed(entry: JournalEntry): void {
    if (entry.state) this.#news.set(entry.operationID, entry.state);
    if (entry.removeOld !== undefined) this.#old.set(entry.removeOld, "drop");
    if (entry.removeNew !== undefined) this.#removed.add(entry.removeNew);
    if (entry.deleteOld !== undefined) this.#mark(entry.deleteOld, { delete: true });
    if (entry.pendingReplacementOld !== undefined)
      this.#mark(entry.pendingReplacementOld, { pendingReplacement: true });
    Object.assign(this.#news.get(entry.deleteNew ?? Number.NaN) ?? {}, { delete: true });
    Object.assign(this.#news.get(entry.pendingReplacementNew ?? Number.NaN) ?? {}, {
      pendingReplacement: true,
    });
    if (entry.isRefresh) this.#hasRefresh = true;
  }

  #refresh(entry: JournalEntry): void {
    this.#hasRefresh = true;
    if (entry.state) this.#replace(entry, entry.state);
    else if (entry.removeOld !== undefined) this.#old.set(entry.removeOld, "drop");
    else if (entry.removeNew !== undefined) this.#removed.add(entry.removeNew);
  }

  /** Also for the outputs of a component. */
  #replace({ removeOld, removeNew }: JournalEntry, state: SavedResource): void {
    if (removeOld !== undefined) this.#old.set(removeOld, { replacement: state });
    if (removeNew !== undefined) this.#news.set(removeNew, state);
  }

  /** Makes what was replayed so far the base, as after a refresh that comes first. */
  #rebase(): void {
    this.#base = this.state();
    for (const each of [this.#old, this.#marks, this.#news, this.#removed, this.#begun]) each.clear();
  }

  #mark(at: number, mark: { delete?: true; pendingReplacement?: true }): void {
    this.#marks.set(at, { ...this.#marks.get(at), ...mark });
  }

  state(): SavedState {
    const { secrets_providers, metadata = {} } = this.#base;
    const olds = (this.#base.resources ?? []).flatMap((resource, at) => {
      const change = this.#old.get(at);
      if (change === "drop") return [];
      return [change ? change.replacement : { ...resource, ...this.#marks.get(at) }];
    });
    const news = [...this.#news].filter(([operation]) => !this.#removed.has(operation));
    const resources = structuredClone([...news.map(([, resource]) => resource), ...olds]);
    const begun = [...this.#begun.values()].flatMap(({ operation }) => operation ?? []);
    const left = (this.#base.pending_operations ?? []).filter(({ type }) => type === "creating");
    const pending_operations = structuredClone([...begun, ...left]);
    for (const each of [...resources, ...pending_operations.map(({ resource }) => resource)])
      for (const field of UNRECORDED_FIELDS)
        if (each[field]) throw new Error(`no recorded journal has ${field}: ${each.urn}`);
    if (this.#hasRefresh) dropDangling(resources);
    const magic = createHash("sha256").update(VERSION).digest("hex");
    return {
      manifest: { time: new Date().toISOString(), magic, version: VERSION },
      ...{ secrets_providers, resources: renamed(resources), metadata },
      ...(pending_operations.length > 0 && { pending_operations }),
    };
  }
}

/** Drops references to what a refresh has dropped. */
function dropDangling(resources: readonly SavedResource[]): void {
  const known = new Set<string>();
  const parents = new Map<string, string | undefined>();
  for (const each of resources) {
    const isKnown = (urn: string) => known.has(urn);
    each.dependencies = each.dependencies?.filter(isKnown);
    if (each.propertyDependencies) {
      const kept = Object.entries(each.propertyDependencies).map(([key, urns]) => [
        key,
        (urns ?? []).filter(isKnown),
      ]);
      each.propertyDependencies = Object.fromEntries(kept.filter(([, urns]) => urns?.length));
    }
    if (each.deletedWith && !known.has(each.deletedWith)) delete each.deletedWith;
    known.add(each.urn);
  }
  for (const each of resources) {
    if (each.parent && !known.has(each.parent)) each.parent = parents.get(each.parent);
    parents.set(each.urn, each.parent);
  }
}

/** Gives what an alias renamed its new name also where others refer to it. */
function renamed(resources: readonly SavedResource[]): SavedResource[] {
  const renames = new Map(
    resources.flatMap(({ urn, aliases }) => (aliases ?? []).map((alias) => [alias, urn] as const)),
  );
  const fix = (urn: string) => renames.get(urn) ?? urn;
  return resources.map(({ aliases, ...each }) => {
    const at = each.provider?.lastIndexOf("::") ?? 0;
    const properties = Object.entries(each.propertyDependencies ?? {});
    return {
      ...each,
      urn: fix(each.urn),
      ...(each.parent && { parent: fix(each.parent) }),
      ...(each.deletedWith && { deletedWith: fix(each.deletedWith) }),
      ...(each.dependencies && { dependencies: each.dependencies.map(fix) }),
      ...(each.propertyDependencies && {
        propertyDependencies: Object.fromEntries(
          properties.map(([key, urns]) => [key, urns?.map(fix) ?? null]),
        ),
      }),
      ...(each.provider && { provider: fix(each.provider.slice(0, at)) + each.provider.slice(at) }),
      ...(renames.size === 0 && aliases && { aliases }),
    };
  });
}
