import { Argument, Command } from "commander";
import { Output } from "./output";
import { EXIT, endsByItself, withUsage } from "./run";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

export function completionCommand(): Command {
  const command = new Command("completion")
    .summary("print a script that completes subcommands and options in a shell")
    .description(
      "Prints a script for your shell that completes the subcommands and options of webhook-endpoints. It completes the command by its " +
        "own name, so put the package's node_modules/.bin on PATH, or install the package globally.",
    )
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS));
  return withUsage(command, {
    exit: { [EXIT.yes]: "the script was printed", [EXIT.no]: "the shell is unknown" },
    examples: [
      "completion bash >> ~/.bashrc",
      "completion fish > ~/.config/fish/completions/webhook-endpoints.fish",
    ],
  }).action(
    endsByItself(async (shell: Shell, _flags: object, command: Command) => {
      const commands = command.parent?.commands ?? [];
      new Output().raw(shell === "fish" ? fishScript(commands) : bashScript(commands, shell));
      return EXIT.yes;
    }),
  );
}

/** zsh runs the script of bash. */
function bashScript(commands: readonly Command[], shell: Shell): string {
  const cases = commands.map(
    (command) =>
      `    ${command.name()}) words="${optionsOf(command)
        .map(({ long }) => long)
        .join(" ")}" ;;`,
  );
  const names = commands.map((command) => command.name());
  return `${shell === "zsh" ? "autoload -U +X compinit bashcompinit && { (( $+functions[compdef] )) || compinit; } && bashcompinit\n" : ""}_webhook_endpoints() {
  local words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${names.join(" ")}"
  else
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _webhook_endpoints webhook-endpoints
`;
}

function fishScript(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => [
    `complete -c webhook-endpoints -n __fish_use_subcommand -a ${command.name()} -d '${quoted(command.summary())}'`,
    ...optionsOf(command).map(
      ({ long, description }) =>
        `complete -c webhook-endpoints -n '__fish_seen_subcommand_from ${command.name()}' -l ${long.slice(2)} -d '${quoted(description)}'`,
    ),
  ]);
  return `${lines.join("\n")}\n`;
}

function optionsOf(command: Command): { readonly long: string; readonly description: string }[] {
  return command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, description }) => ({ long: long ?? "", description }));
}

function quoted(text: string): string {
  return text.replace(/['\\]/g, "\\$&");
}
