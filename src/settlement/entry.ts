import { isAlive, isAtWork, isThisProcess, type ProcessName } from "../shared/processes";
import { hashOf } from "./files";
import { type Window, windowOf } from "./time";
import { isSameAccount, type OriginHashes, type Trace } from "./trace";

/** A stack as the book names it. */
export interface StackName {
  readonly urn: string;
  /** The normalized URL of the backend; empty if it is unknown. */
  readonly backend: string;
}

/** Of what a command has registered for itself. */
export const NO_STACK: StackName = { urn: "", backend: "" };

/** What one run sent or took: a registration from before it is sent, or an endpoint that was adopted or taken over. */
export interface Entry extends OriginHashes {
  /** The name of its file, which never changes. */
  readonly name: string;
  /** Of url and type. */
  readonly key: string;
  readonly stack: StackName;
  /** The engine's run and the process that sent or took it last. */
  readonly run: string;
  readonly process: ProcessName;
  /** Tells providers of one run apart. */
  readonly sender: string;
  /** A hash of the ip. */
  readonly ip: string;
  /** When it was begun, in milliseconds on this machine's clock. */
  readonly begunAt?: number;
  /** When the stack began, in milliseconds, if that was known: a renamed stack leaves its name to another one. */
  readonly stackBegan?: number | undefined;
  /** Null until it is sent, and for an endpoint that was adopted. */
  readonly sent: Sent | null;
  /** The endpoint's id; null until it is known. */
  readonly id: string | null;
  /** The provisional id under which the registration went into the state as pending. */
  readonly pendingId?: string;
  /** As a list showed it. */
  readonly createdAt: string | null;
  readonly adopted: boolean;
  /** When the service answered its registration, in milliseconds on this machine's clock. */
  readonly madeAt?: number;
  /** When a later run took it over, in milliseconds on this machine's clock. */
  readonly takenAt?: number;
  /** The provider that sent it, if another one took it over. */
  readonly sentBy?: string;
  /** True once its outcome is recorded elsewhere, or known. */
  readonly closed: boolean;
  /** True if a person said that the endpoint is not this stack's. Such an entry is closed, and stays. */
  readonly foreign?: boolean;
}

/** What every entry tells from the beginning, and what may be known already. */
export type NewEntry = Pick<Entry, keyof OriginHashes | "stack" | "run" | "sender" | "ip"> &
  Partial<Omit<Entry, "name" | "key" | "process">>;

export interface Sent {
  /** In milliseconds on this machine's clock. */
  readonly at: number;
  /** In milliseconds on the service's clock; null when the service sends no time. */
  readonly serviceTime: number | null;
  /** The same of the last time, if it was sent again after 503. */
  readonly lastTime?: number | null;
  /** The endpoints of this url and type that were listed before. */
  readonly before: readonly string[];
  /** True if `before` has all of them. */
  readonly complete: boolean;
}

export function windowOfSent({ serviceTime, lastTime }: Omit<Sent, "at">, patienceMs: number): Window {
  return windowOf(serviceTime, patienceMs, lastTime);
}

export function traceOfEntry(entry: Entry, patienceMs: number): Trace {
  return entry.sent === null ? entry : { ...entry, window: windowOfSent(entry.sent, patienceMs) };
}

export function isSameStack(a: StackName, b: StackName): boolean {
  return a.urn === b.urn && a.backend === b.backend;
}

/** Returns whether the provider or the account of an origin sent an entry. */
export function mayTake(entry: Entry, origin: OriginHashes): boolean {
  return entry.provider === origin.provider || isSameAccount(entry, origin);
}

/** Returns whether a resource of a stack adopted what an entry tells of, unless the book tells which registration made it. */
export function isAdoption({ adopted, pendingId, stack }: Entry, name: StackName): boolean {
  return adopted && pendingId === undefined && isSameStack(stack, name);
}

export function ipHash(ip: string | null | undefined): string {
  return hashOf(ip ?? "");
}

/** Returns whether an entry belongs to a run that is under way: that run, and the process that wrote it lives. */
export function isLiving(entry: Entry, currentRun: string): boolean {
  return entry.run === currentRun && isAlive(entry.process, lastSignOf(entry));
}

/** Returns whether the process that wrote an entry is at work, for whichever run. One whose engine was killed may live on for ever. */
export function isUnderWay(entry: Entry, currentRun: string): boolean {
  if (isThisProcess(entry.process)) return entry.run === currentRun;
  return isAtWork(entry.process, lastSignOf(entry));
}

/** Returns when the process that wrote an entry last showed that it lived. */
function lastSignOf({ sent, takenAt }: Entry): number {
  return takenAt ?? sent?.at ?? Date.now();
}

export function isWhole({ name, key, stack, process, sent, id }: Entry): boolean {
  return (
    name.startsWith(`${key}.`) &&
    typeof stack.urn === "string" &&
    typeof process.pid === "number" &&
    (id === null || typeof id === "string") &&
    (sent === null || (typeof sent.at === "number" && Array.isArray(sent.before)))
  );
}
