import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from "node:crypto";
import { type JournalEntry, replay, type SavedState } from "./replay";

/** How long a lease lasts. Tests end one by `CloudStack.expire`. */
const LEASE_SECONDS = 300;

/** What is a guess about the real service, or differs with the CLI's version. */
export interface Switches {
  /** Whether updates are journaled. A CLI before 3.225 does not ask for it. */
  journals: boolean;
  /** What an export shows while a journaled update runs: what its journal says so far, or the state before it. */
  shows: "so far" | "before";
  /** Whether the journal of an update that was cancelled, or whose lease ended, becomes the state. */
  keepsCancelled: boolean;
  /** Whether a state without resources has `null` for them, and one that nobody wrote `null` for all. */
  nulls: boolean;
  /** How many stacks a page of their list has. */
  pageSize: number;
}

/** A state with its format, as it is exported and imported. */
export interface Saved {
  readonly version: number;
  readonly deployment: SavedState | null;
}

/** A refusal of the service. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const lease = () => ({ tokenExpiration: Math.floor(Date.now() / 1000) + LEASE_SECONDS });

const inProgress = () => new Refusal(409, "Conflict: Another update is currently in progress.");

/** Something that the CLI does to a stack, or its preview. It may write while its lease lasts. */
export class Update {
  readonly id = randomUUID();
  readonly token = `token-of-${randomUUID()}`;
  readonly entries: JournalEntry[] = [];
  result: "not started" | "running" | "succeeded" | "failed" = "not started";
  isJournaled = false;
  hasLease = true;

  constructor(readonly kind: string) {}

  get isPreview(): boolean {
    return this.kind === "preview";
  }

  get isOver(): boolean {
    return this.result === "succeeded" || this.result === "failed";
  }

  note(entries: readonly JournalEntry[]): void {
    // The CLI sends again what got no answer.
    const known = new Set(this.entries.map(({ sequenceID }) => sequenceID));
    this.entries.push(...entries.filter(({ sequenceID }) => !known.has(sequenceID)));
  }
}

/** A stack at Pulumi Cloud. */
export class CloudStack {
  readonly id = randomUUID();
  readonly updates: Update[] = [];
  saved: Saved = { version: 3, deployment: null };
  version = 0;
  tags: object = {};
  #key = randomBytes(32);

  readonly organization: string;
  readonly project: string;
  readonly name: string;

  /** @param fullName `organization/project/stack` */
  constructor(
    readonly fullName: string,
    private readonly switches: Switches,
  ) {
    [this.organization = "", this.project = "", this.name = ""] = fullName.split("/");
  }

  /** The update under way, which nothing else may disturb. One whose lease has ended is over. */
  get active(): Update | undefined {
    const update = this.updates.find(({ result, isPreview }) => result === "running" && !isPreview);
    if (update?.hasLease === false) this.end(update, "failed", "cancelled");
    return update?.isOver ? undefined : update;
  }

  /** The state as it is exported. */
  get exported(): Saved {
    const { active, saved, switches } = this;
    const { version, deployment } =
      active?.isJournaled && active.entries.length > 0 && switches.shows === "so far"
        ? this.#replayed(active)
        : saved;
    if (!switches.nulls) return { version, deployment: deployment ?? {} };
    const isEmpty = deployment !== null && (deployment.resources ?? []).length === 0;
    return { version, deployment: isEmpty ? { ...deployment, resources: null } : deployment };
  }

  get summary(): object {
    const { id, organization: orgName, project: projectName, name: stackName, saved } = this;
    const resourceCount = saved.deployment?.resources?.length ?? 0;
    // The CLI reads 0 as "in progress".
    const lastUpdate = this.active ? 0 : this.version > 0 ? 1 : undefined;
    return { id, orgName, projectName, stackName, resourceCount, lastUpdate, links: { self: "" } };
  }

  get details(): object {
    const { id, organization: orgName, project: projectName, name: stackName, version, tags, active } = this;
    const currentOperation = active && { kind: active.kind, author: "somebody", started: 1 };
    const activeUpdate = active?.id ?? "";
    return { id, orgName, projectName, stackName, version, tags, activeUpdate, currentOperation };
  }

  plan(kind: string): Update {
    const update = new Update(kind);
    this.updates.push(update);
    return update;
  }

  start(update: Update, wantsJournal: boolean): object {
    if (!update.isPreview && this.active) throw inProgress();
    update.result = "running";
    update.isJournaled = wantsJournal && this.switches.journals && !update.isPreview;
    return {
      version: this.version + 1,
      token: update.token,
      ...lease(),
      ...(update.isJournaled && { journalVersion: 1 }),
    };
  }

  /** Ends an update: its journal becomes the state. */
  end(update: Update, result: "succeeded" | "failed", how: "completed" | "cancelled" = "completed"): void {
    const isKept = how === "completed" || this.switches.keepsCancelled;
    if (update.isJournaled && isKept) this.saved = this.#replayed(update);
    update.result = result;
    if (!update.isPreview) this.version += 1;
  }

  /** Ends the lease of the update under way. */
  expire(): void {
    const { active } = this;
    if (active === undefined) throw new Error(`${this.fullName} has no update under way`);
    active.hasLease = false;
  }

  import(saved: Saved): Update {
    if (this.active) throw inProgress();
    const update = this.plan("import");
    this.saved = saved;
    this.end(update, "succeeded");
    return update;
  }

  encrypt(plaintext: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    const sealed = [nonce, cipher.update(plaintext, "base64"), cipher.final()];
    return Buffer.concat([...sealed, cipher.getAuthTag()]).toString("base64");
  }

  decrypt(ciphertext: string): string {
    const sealed = Buffer.from(ciphertext, "base64");
    const decipher = createDecipheriv("aes-256-gcm", this.#key, sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(-16));
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString("base64");
  }

  #replayed({ entries }: Update): Saved {
    const { version, deployment } = this.saved;
    return { version, deployment: replay(deployment ?? {}, entries) };
  }
}
