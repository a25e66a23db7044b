import { styleText } from "node:util";
import type { CodedError } from "../shared/codedError";
import { foreign, messageLine, printable, withoutUserInfo } from "../shared/escape";
import { hide, spellingsOf } from "../shared/masking";
import { lineOf } from "./errors";

/** How often progress is shown, in milliseconds. */
const PROGRESS_MS = 2_000;
const COLUMN_GAP = "  ";
/** A shorter secret may be a word of the output. In characters. */
const SHORTEST_SECRET = 8;

export interface Sink {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

type Style = "bold" | "dim" | "red" | "green" | "yellow";

/**
 * What a command prints. Data goes to standard output: one JSON value with `--json`, lines and tables otherwise. Notes, warnings and
 * progress go to standard error, and with `--json` all lines. Only a terminal gets colors, and not with NO_COLOR. Nothing that is
 * printed controls the terminal, or holds a secret that the command knows, but for `raw`.
 */
export class Output {
  readonly json: boolean;
  readonly #secrets = new Set<string>();
  #isPrinted = false;
  readonly #warned = new Set<string>();

  constructor(
    private readonly options: Record<"stdout" | "stderr", Sink> & { env: NodeJS.ProcessEnv; json: boolean },
  ) {
    this.json = options.json;
  }

  /** Notes a secret to hide from now on, however it is spelled. */
  remember(secret: string): void {
    for (const each of spellingsOf(secret)) if (each.length >= SHORTEST_SECRET) this.#secrets.add(each);
  }

  /** Returns a string without these secrets, and without anything that is spelt as a signing secret. */
  masked(text: string): string {
    return hide(text, this.#secrets);
  }

  /** Prints the result: as JSON with `--json`, otherwise as `print` does for people. Called once. */
  data(value: unknown, print: () => void): void {
    this.#isPrinted = true;
    if (this.json) this.#writeJson(value, 2);
    else print();
  }

  /** Prints the result of work that may have ended early: with `--json`, the error is a part of the value. @throws the error */
  outcome(value: object, print: () => void, error: CodedError | undefined): void {
    const shown = error && { error: { code: error.code, message: this.shown(lineOf(error)) } };
    this.data({ ...value, ...shown }, print);
    if (error !== undefined) throw error;
  }

  /** Prints one of many results of a command that runs until it is stopped: as JSON on one line, or as a line for people. */
  record(value: unknown, line: string): void {
    if (this.json) this.#writeJson(value);
    else this.line(line);
  }

  /** Writes text as it is, neither hidden nor escaped: what is for a file, the help, and the secrets that the emulator itself made. */
  raw(text: string): void {
    this.options.stdout.write(text);
  }

  line(text = "", style?: Style): void {
    this.#print(this.#people, this.shown(text), style);
  }

  /** Prints the body of a receiver's response, if it has one. */
  response(text: string): void {
    if (text === "") return;
    this.line("The receiver's response:");
    for (const line of text.split(/\r?\n/)) this.line(`  ${line}`);
  }

  table(headings: readonly string[], rows: readonly (readonly string[])[]): void {
    const cells = [headings, ...rows.map((row) => row.map((cell) => foreign(this.masked(cell))))];
    const widths = headings.map((_, column) =>
      cells.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0),
    );
    for (const [at, row] of cells.entries()) {
      const aligned = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(COLUMN_GAP);
      this.#print(this.#people, aligned.trimEnd(), at === 0 ? "bold" : undefined);
    }
  }

  /** Prints a line about the data or the work to standard error. */
  note(text: string): void {
    this.#print(this.options.stderr, this.shown(text), "dim");
  }

  /** Prints each warning once. */
  warn(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#print(this.options.stderr, `warning: ${this.shown(text)}`, "yellow");
  }

  /** Prints why the command failed: a line on standard error, and with `--json` the value, unless there is one. */
  error(error: CodedError): void {
    const message = this.shown(lineOf(error));
    this.#print(this.options.stderr, `error: ${message} (${error.code})`, "red");
    if (this.json && !this.#isPrinted) this.#writeJson({ error: { code: error.code, message } });
  }

  /** Waits for work. If it takes longer than two seconds, a terminal shows what the command is doing, with counts. */
  async during<T>(describe: () => string, work: Promise<T>): Promise<T> {
    if (this.options.stderr.isTTY !== true) return work;
    const timer = setInterval(() => this.note(describe()), PROGRESS_MS);
    return work.finally(() => clearInterval(timer));
  }

  /** Returns a string as it is printed: without secrets, and harmless for a terminal. */
  shown(text: string): string {
    return messageLine(this.masked(text));
  }

  get #people(): Sink {
    return this.json ? this.options.stderr : this.options.stdout;
  }

  #writeJson(value: unknown, indent = 0): void {
    const masked = (_name: string, each: unknown) =>
      typeof each === "string" ? withoutUserInfo(this.masked(each)) : each;
    const lines = JSON.stringify(value, masked, indent).split("\n");
    this.options.stdout.write(`${lines.map(printable).join("\n")}\n`);
  }

  #print(sink: Sink, text: string, style?: Style): void {
    const { NO_COLOR, TERM } = this.options.env;
    const isStyled = style !== undefined && sink.isTTY === true && !NO_COLOR && TERM !== "dumb";
    sink.write(`${isStyled ? styleText(style, text, { validateStream: false }) : text}\n`);
  }
}
