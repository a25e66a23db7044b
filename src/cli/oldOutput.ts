import { styleText } from "node:util";
import { withoutSecrets } from "./knownSecrets";
import { printable, printableJson } from "./printable";
import { isAsking } from "./terminal";

/** When progress is shown for the first time, and how often after that, in milliseconds. */
const FIRST_PROGRESS_MS = 1_000;
const NEXT_PROGRESS_MS = 5_000;
/** How many spaces separate two columns of a table. */
const COLUMN_GAP = 2;

/**
 * How much standard output has of the one JSON value that `--json` promises. A process runs one command, so this is the state of the
 * process.
 */
export const jsonResult: {
  /** Undefined until the options are parsed. */
  isWanted: boolean | undefined;
  isPrinted: boolean;
} = { isWanted: undefined, isPrinted: false };

/** A stream that a command prints to. */
interface Sink {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

interface OutputOptions {
  /** Prints data as JSON instead of for people. */
  readonly json?: boolean | undefined;
  /** Default: this process's. */
  readonly stdout?: Sink;
  readonly stderr?: Sink;
  readonly environment?: NodeJS.ProcessEnv;
}

type Style = "bold" | "dim" | "red" | "green" | "yellow";

/**
 * What a command prints. The data goes to standard output: JSON and nothing else with `--json`, tables and lines otherwise.
 * Notes, warnings and progress go to standard error. Only a terminal gets colors, and not with NO_COLOR. Nothing that is
 * printed can control the terminal, or holds a secret that the command knows.
 */
export class Output {
  readonly json: boolean;
  readonly #stdout: Sink;
  readonly #stderr: Sink;
  readonly #mayColor: boolean;

  constructor(options: OutputOptions = {}) {
    const { json = false, stdout = process.stdout, stderr = process.stderr } = options;
    const { NO_COLOR, TERM } = options.environment ?? process.env;
    this.json = json;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#mayColor = !NO_COLOR && TERM !== "dumb";
  }

  /** Prints data: as JSON with `--json`, otherwise as `print` does for people. */
  data(value: unknown, print: () => void): void {
    if (!this.json) {
      print();
      return;
    }
    jsonResult.isPrinted = true;
    this.#stdout.write(`${printableJson(value, 2, withoutSecrets)}\n`);
  }

  /** Writes text that is for a file. Its author has made it harmless. */
  raw(text: string): void {
    this.#stdout.write(text);
  }

  /** Prints one of many pieces of data: as JSON on one line with `--json`, otherwise as a line for people. */
  record(value: unknown, line: string): void {
    if (this.json) this.#stdout.write(`${printableJson(value, 0, withoutSecrets)}\n`);
    else this.line(line);
  }

  /** Prints a line for people. */
  line(text = "", style?: Style): void {
    this.#stdout.write(`${this.#styled(shown(text), style, this.#stdout)}\n`);
  }

  /** Prints rows below their headings, aligned. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void {
    const cells = rows.map((row) => row.map(shown));
    const widths = headings.map((heading, column) =>
      cells.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), heading.length),
    );
    const aligned = (row: readonly string[]) =>
      row
        .map((cell, column) => cell.padEnd((widths[column] ?? 0) + COLUMN_GAP))
        .join("")
        .trimEnd();
    this.#stdout.write(`${this.#styled(aligned(headings), "bold", this.#stdout)}\n`);
    for (const row of cells) this.#stdout.write(`${aligned(row)}\n`);
  }

  /** Prints a line about the data or the progress to standard error. */
  note(text: string): void {
    this.#stderr.write(`${this.#styled(shown(text), "dim", this.#stderr)}\n`);
  }

  /** Prints what the command is doing to standard error, if that is a terminal, unless it waits for a person. */
  progress(text: string): void {
    if (this.#stderr.isTTY === true && !isAsking()) this.note(text);
  }

  /** Waits for work. If it takes longer than a second, a terminal shows what the command is doing, with counts. */
  async during<T>(describe: () => string, work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout;
    const show = () => {
      this.progress(describe());
      timer = setTimeout(show, NEXT_PROGRESS_MS);
    };
    timer = setTimeout(show, FIRST_PROGRESS_MS);
    return work.finally(() => clearTimeout(timer));
  }

  /** Prints a warning to standard error. */
  warn(text: string): void {
    this.#stderr.write(`${this.#styled("warning:", "yellow", this.#stderr)} ${shown(text)}\n`);
  }

  #styled(text: string, style: Style | undefined, sink: Sink): string {
    if (style === undefined || !this.#mayColor || sink.isTTY !== true) return text;
    return styleText(style, text, { validateStream: false });
  }
}

function shown(text: string): string {
  return printable(withoutSecrets(text));
}
