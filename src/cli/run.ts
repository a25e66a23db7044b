import { type Argument, Command, CommanderError, type Option } from "commander";
import { CodedError } from "../shared/codedError";
import { COMMAND, PROGRAM } from "../shared/commandLine";
import { CliError } from "./errors";
import { helpOption } from "./options";
import { Output, type Sink } from "./output";
import { Pulumi, type RunPulumi } from "./pulumi";
import type { Terminal } from "./terminal";

/** What a process gives to a command. A test gives its own. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C, by another signal, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
  readonly runPulumi: RunPulumi;
  /** Waits for so many milliseconds, or until `signal` is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
}

export interface Context extends Surroundings {
  readonly output: Output;
  /** Of the stack that `--stack` names, or the selected one. */
  readonly pulumi: Pulumi;
  /** From now on, the subcommand watches `signal` and ends in its own way. Until it calls this, Ctrl-C ends it at once. */
  readonly endItself: () => void;
}

/** A subcommand, as data: its help and its place in the documentation are made from it. */
export interface Subcommand<Flags extends object = object> {
  /** For the list of all. */
  readonly summary: string;
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly options: readonly Option[];
  /** What follows the program's name in examples. */
  readonly examples: readonly string[];

  /** Does the work. Returns whether the answer is yes: the exit status is 0 then, and 1 otherwise. @throws CodedError */
  run(context: Context, flags: Flags, args: readonly string[]): Promise<boolean>;
}

/** What loads each subcommand, by its name. */
export type Commands = Readonly<Record<string, () => Subcommand | Promise<Subcommand>>>;

const EXIT_STATUSES = `
Exit status:
  0    it is done, or the answer is yes
  1    the answer is no, or the command failed
  130  Ctrl-C ended it`;

/** Runs a command line, and returns its exit status. Never rejects. */
export async function run(
  args: readonly string[],
  surroundings: Surroundings & { readonly commands: Commands; readonly version: string },
): Promise<number> {
  const { commands, version, stdout, stderr, env, signal } = surroundings;
  const json = args.includes("--json");
  const output = new Output({ json, stdout, stderr, env });
  let status = 0;
  const program = new Command(PROGRAM)
    .description("Inspects, tests and cleans up webhook endpoints, and runs the service on this machine.")
    .version(version)
    .addHelpOption(helpOption())
    .addHelpText("after", EXIT_STATUSES)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.raw(text),
      writeErr: () => undefined,
    });
  try {
    const isNamed = Object.hasOwn(commands, args[0] ?? "");
    for (const [name, load] of Object.entries(commands)) {
      if (isNamed && name !== args[0]) continue;
      const subcommand = await load();
      const command = describe(program.command(name), subcommand);
      command.action(async () => {
        const { stack } = command.opts<{ stack?: string }>();
        const context = { ...surroundings, output, pulumi: new Pulumi(surroundings.runPulumi, stack) };
        const work = (endItself: () => void) =>
          subcommand.run({ ...context, endItself }, command.opts(), command.args);
        status = (await untilStopped(signal, work)) ? 0 : 1;
      });
    }
    await program.parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const failure = codedError(error);
    if (signal.reason !== "EPIPE") output.error(failure);
    return failure.code === "INTERRUPTED" ? 130 : 1;
  }
}

function describe(command: Command, { options, examples, ...rest }: Subcommand): Command {
  command.summary(rest.summary).description(rest.description).addHelpOption(helpOption());
  for (const argument of rest.arguments ?? []) command.addArgument(argument);
  for (const option of options) command.addOption(option);
  const lines = examples.map((example) => `  $ ${COMMAND} ${example}`);
  return command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
}

/** Waits for work: until somebody stops the command, or to its end once it ends itself. @throws CliError `INTERRUPTED` */
function untilStopped<T>(signal: AbortSignal, work: (endItself: () => void) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new CliError("INTERRUPTED", "Ctrl-C ended the command"));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    work(() => signal.removeEventListener("abort", stop)).then(resolve, reject);
  });
}

function codedError(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const lines = (error instanceof Error ? error.message : String(error)).split("\n");
  const message = lines.map((line) => line.trim()).join(" ");
  if (!(error instanceof CommanderError)) return new CliError("UNEXPECTED", message, { cause: error });
  // commander repeats values, and a key may have got into the place of any of them.
  const reason = message
    .replace(/^error: /, "")
    .replace(/(option '--?[\w-]+)=[^']*'/, "$1'")
    .replace(/ (value|argument) '.*' is invalid/s, " $1 is invalid");
  return new CliError("WRONG_USE", reason);
}
