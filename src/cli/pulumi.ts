import { quoted } from "../shared/commandLine";
import { withoutUserInfo } from "../shared/escape";
import { parseJson } from "../shared/json";
import { type PulumiCommandResult, quotedError } from "../shared/pulumiCommand";
import { LOST_STATE } from "./docs";
import { CliError } from "./errors";

/** What `find` found: JSON and what the command printed besides, or why there is none, which fits after "because". */
export type Found<T> =
  | { readonly value: T; readonly stderr: string; readonly whyNone?: undefined }
  | { readonly value?: undefined; readonly stderr?: undefined; readonly whyNone: string };

/** What Pulumi says of its login. */
interface Login {
  readonly user?: string;
  /** The backend. Of a Pulumi Cloud that somebody hosts, Pulumi may not know the address of its pages: then it is "". */
  readonly url?: string;
}

/** Runs Pulumi's command in the folder of the program. Rejects if it cannot be started. */
export type RunPulumi = (args: readonly string[]) => Promise<PulumiCommandResult>;

/** Runs Pulumi's command for one stack. */
export class Pulumi {
  /** @param stack default: the selected stack */
  constructor(
    private readonly runPulumi: RunPulumi,
    readonly stack: string | undefined,
  ) {
    // Pulumi takes an empty name for the selected stack.
    if (stack === "") throw new CliError("WRONG_USE", "the name of a stack must not be empty");
  }

  /** Returns the same for another stack, or the selected one. */
  forStack(stack: string | undefined): Pulumi {
    return new Pulumi(this.runPulumi, stack);
  }

  /** Returns a command line for a message, with `--stack` if the user named the stack. */
  readonly withStack = (command: string): string =>
    this.stack === undefined ? command : `${command} --stack ${quoted(this.stack)}`;

  /** Runs a command. @throws CliError `PULUMI_MISSING`, `PULUMI_FAILED`, or `INTERRUPTED` after Ctrl-C */
  async run(args: readonly string[]): Promise<PulumiCommandResult> {
    const stack = this.stack === undefined ? [] : ["--stack", this.stack];
    const result = await this.runPulumi([...args, ...stack]).catch((cause: NodeJS.ErrnoException) => {
      if (cause.name === "AbortError") throw new CliError("INTERRUPTED", "Ctrl-C ended the command");
      throw new CliError(
        "PULUMI_MISSING",
        `cannot run the command pulumi (${cause.code}). Install the Pulumi CLI and put it on PATH`,
        { cause },
      );
    });
    if (result.exitCode === 0) return result;
    const why = quotedError(result);
    const page =
      why.includes("passphrase") || why.includes(NO_BACKEND) ? `. If it is lost, follow ${LOST_STATE}` : "";
    throw new CliError("PULUMI_FAILED", `\`pulumi ${args.join(" ")}\` failed: ${why}${page}`);
  }

  /**
   * Returns the JSON that a command prints, which must be of this type, if there are a CLI, a project and a stack for it. A stack that the
   * user named must exist.
   *
   * @throws CliError `PULUMI_FAILED`, or `PULUMI_MISSING` for a stack that the user named
   */
  async find<T>(args: readonly string[]): Promise<Found<T>> {
    try {
      return await this.#json<T>(args);
    } catch (error) {
      const whyNone = error instanceof CliError ? whyNoneAfter(error) : undefined;
      if (whyNone === undefined || this.stack !== undefined) throw error;
      // It may be the wrong backend.
      return {
        whyNone: whyNone === NOT_SELECTED ? `${whyNone} in ${await this.describeBackend()}` : whyNone,
      };
    }
  }

  async #json<T>(args: readonly string[]): Promise<{ readonly value: T; readonly stderr: string }> {
    const { stdout, stderr } = await this.run(args);
    const value = parseJson(stdout);
    if (value === undefined)
      throw new CliError("PULUMI_FAILED", `\`pulumi ${args.join(" ")}\` printed something that is not JSON`);
    return { value: value as T, stderr };
  }

  /** Returns where the states are, and as whom Pulumi asks for them. @throws CliError as `run` does */
  async login(): Promise<Login> {
    const { value } = await this.forStack(undefined).#json<Login | null>(["whoami", "--json", "-v"]);
    return value ?? {};
  }

  /** Names the backend, without a password that its url may hold. Never rejects. */
  async describeBackend(): Promise<string> {
    const { url = "" } = await this.login().catch((): Login => ({}));
    const [, shown] = /^([^?#]+)/.exec(url) ?? [];
    return shown === undefined ? "this backend" : `the backend ${withoutUserInfo(shown)}`;
  }
}

/** In Pulumi's own message where a folder or a bucket is not there, or may not be read. */
export const NO_BACKEND = "unable to open bucket";
const NOT_SELECTED = "no stack is selected";
export const NO_CLI = "the command pulumi was not found on PATH";
export const NOT_LOGGED_IN = "Pulumi is not logged in";

function whyNoneAfter({ code, detail }: CliError): string | undefined {
  if (code === "PULUMI_MISSING") return NO_CLI;
  if (/no Pulumi\.yaml project file found/.test(detail)) return "this folder has no Pulumi project";
  // Outside a project, some commands ask for a login first.
  if (/PULUMI_ACCESS_TOKEN must be set for login/.test(detail)) return NOT_LOGGED_IN;
  return /no stack selected/.test(detail) ? NOT_SELECTED : undefined;
}
