import { createHash } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Origin } from "../origin";

/** The size from which on a journal is shortened when it is opened, in bytes. */
const SHORTEN_FROM_BYTES = 256 * 1024;

/** Identifies a journal: a stack, where its state is kept, and the account at the service. */
export interface JournalKey {
  readonly rootUrn: string;
  readonly origin: Origin;
  readonly environment: NodeJS.ProcessEnv;
}

/** A file of JSON lines that only grows while a run writes to it. It is private to the user. */
export class JournalFile {
  readonly #folder: string;
  readonly #name: string;
  /** What the names of this stack's journals for this service begin with, whichever key they belong to. */
  readonly #prefix: string;

  constructor({ rootUrn, origin, environment }: JournalKey) {
    const home = environment.PULUMI_HOME || join(homedir(), ".pulumi");
    this.#folder = join(home, "webhook-endpoints", "journal");
    this.#prefix = `${hashOf(rootUrn, backendOf(environment, home))}-${hashOf(origin.baseUrl)}-`;
    this.#name = `${this.#prefix}${origin.account}.jsonl`;
  }

  get path(): string {
    return join(this.#folder, this.#name);
  }

  /** Appends lines. Each begins with a line feed, so that a line torn by a kill does not spoil the next one. */
  append(lines: readonly object[]): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    appendFileSync(this.path, lines.map((line) => `\n${JSON.stringify(line)}`).join(""), { mode: 0o600 });
  }

  /** Reads the lines of this journal. Torn lines are left out. */
  read(): object[] {
    return linesOf(this.path);
  }

  /** Reads the lines of all journals of this stack at this service. */
  readAll(): object[] {
    return filesIn(this.#folder)
      .filter((name) => name.startsWith(this.#prefix))
      .flatMap((name) => linesOf(join(this.#folder, name)));
  }

  /** Replaces the lines once the file has grown long. Another process may have appended to it, and then it stays. */
  shorten(lines: () => readonly object[]): void {
    const before = textOf(this.path);
    if (before.length < SHORTEN_FROM_BYTES) return;
    const shorter = `${this.path}.${process.pid}`;
    writeFileSync(
      shorter,
      lines()
        .map((line) => `\n${JSON.stringify(line)}`)
        .join(""),
      { mode: 0o600 },
    );
    if (textOf(this.path) === before) renameSync(shorter, this.path);
  }
}

/** Stacks of one name may stand in several backends. Without a setting for it, the program's folder tells them apart too. */
function backendOf({ PULUMI_BACKEND_URL, PULUMI_CREDENTIALS_PATH }: NodeJS.ProcessEnv, home: string): string {
  if (PULUMI_BACKEND_URL && !/^file:\/\/\.{0,2}$|^file:\/\/\.{1,2}\//.test(PULUMI_BACKEND_URL))
    return PULUMI_BACKEND_URL;
  const credentials = textOf(join(PULUMI_CREDENTIALS_PATH || home, "credentials.json"));
  return `${/"current":\s*"([^"]*)"/.exec(credentials)?.[1] ?? ""} ${realpathSync(".")}`;
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

function linesOf(path: string): object[] {
  return textOf(path)
    .split("\n")
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line);
        return typeof value === "object" && value !== null ? [value] : [];
      } catch {
        return [];
      }
    });
}
