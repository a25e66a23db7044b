import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Origin } from "../origin";

/** The size from which on a journal is shortened when it is opened, in bytes. */
const SHORTEN_FROM_BYTES = 256 * 1024;
const EXTENSION = ".jsonl";

/** Identifies a journal: a stack, where its state is kept, and the account at the service. */
export interface JournalKey {
  readonly rootUrn: string;
  readonly origin: Origin;
  readonly environment: NodeJS.ProcessEnv;
}

/** A file of JSON lines that only grows while a run writes to it. It is private to the user. */
export class JournalFile {
  readonly #home: string;
  readonly #folder: string;
  readonly #name: string;
  /** The parts of a journal's name, in this order. The last one tells which key it belongs to. */
  readonly #stack: string;
  readonly #folderOfProgram: string;
  readonly #service: string;
  /** How long each journal was when `readNew` read it, and where its last line began, in bytes. */
  readonly #read = new Map<string, { readonly size: number; readonly lastLine: number }>();

  constructor({ rootUrn, origin, environment }: JournalKey) {
    this.#home = environment.PULUMI_HOME || join(homedir(), ".pulumi");
    this.#folder = join(this.#home, "webhook-endpoints", "journal");
    const { backend, folder } = backendOf(environment, this.#home);
    this.#stack = hashOf(rootUrn, backend);
    this.#folderOfProgram = `-${hashOf(folder)}`;
    this.#service = `-${hashOf(origin.baseUrl)}-`;
    this.#name = `${this.#stack}${this.#folderOfProgram}${this.#service}${origin.account}${EXTENSION}`;
  }

  get path(): string {
    return join(this.#folder, this.#name);
  }

  /** Appends lines. */
  append(lines: readonly object[]): void {
    const append = () => appendFileSync(this.path, textOfLines(lines), { mode: 0o600 });
    try {
      append();
    } catch (error) {
      // The folder is missing. PULUMI_HOME is the engine's: one that has been removed stays removed.
      if (!existsSync(this.#home)) throw error;
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      append();
    }
  }

  /** Reads the lines of this journal. Torn lines are left out. */
  read(): object[] {
    return linesOf(textOf(this.path));
  }

  /**
   * Reads the lines that all journals of this stack, or of other stacks, at this service have got since the last call; at first,
   * all of them. A stack of this name in another folder may be either, and is left out.
   */
  readNew({ ofOtherStacks = false } = {}): object[] {
    const own = `${this.#stack}${this.#folderOfProgram}`;
    return filesIn(this.#folder)
      .filter((name) => name.includes(this.#service) && name.endsWith(EXTENSION))
      .filter((name) => (ofOtherStacks ? !name.startsWith(this.#stack) : name.startsWith(own)))
      .flatMap((name) => this.#readNewOf(name));
  }

  #readNewOf(name: string): object[] {
    const path = join(this.#folder, name);
    const { size, lastLine } = this.#read.get(name) ?? { size: 0, lastLine: 0 };
    try {
      if (statSync(path).size === size) return [];
      const bytes = readFileSync(path);
      this.#read.set(name, { size: bytes.length, lastLine: Math.max(bytes.lastIndexOf("\n"), 0) });
      // The last line may have been read while it was written. A file that was shortened is read from its beginning.
      return linesOf(bytes.subarray(bytes.length < size ? 0 : lastLine).toString());
    } catch {
      return []; // A file that cannot be read must not hide the others.
    }
  }

  /** Replaces the lines once the file has grown long. Another process may have appended to it, and then it stays. */
  shorten(lines: () => readonly object[]): void {
    const before = textOf(this.path);
    if (before.length < SHORTEN_FROM_BYTES) return;
    const shorter = `${this.path}.${process.pid}`;
    writeFileSync(shorter, textOfLines(lines()), { mode: 0o600 });
    if (textOf(this.path) === before) renameSync(shorter, this.path);
  }
}

/**
 * Stacks of one name may stand in several backends. Without a setting for it, Pulumi.yaml may name one, so that the program's
 * folder tells them apart too.
 */
function backendOf({ PULUMI_BACKEND_URL, PULUMI_CREDENTIALS_PATH }: NodeJS.ProcessEnv, home: string) {
  const folder = realpathSync(".");
  if (PULUMI_BACKEND_URL) return { backend: normalized(PULUMI_BACKEND_URL, folder), folder: "" };
  const credentials = textOf(join(PULUMI_CREDENTIALS_PATH || home, "credentials.json"));
  const current = /"current":\s*"([^"]*)"/.exec(credentials)?.[1] ?? "";
  return { backend: normalized(current, folder), folder };
}

/** Returns the same string for all spellings of a backend's URL. A folder's URL may be relative; a query holds options. */
function normalized(url: string, folder: string): string {
  const [address = ""] = url.split("?");
  const path = /^file:\/\/(?!~)(.*)$/.exec(address)?.[1];
  return path === undefined ? address.replace(/\/+$/, "") : `file://${resolve(folder, path)}`;
}

function hashOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Each line begins with a line feed, so that a line torn by a kill does not spoil the next one. */
function textOfLines(lines: readonly object[]): string {
  return lines.map((line) => `\n${JSON.stringify(line)}`).join("");
}

function linesOf(text: string): object[] {
  return text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "object" && value !== null ? [value] : [];
    } catch {
      return [];
    }
  });
}
