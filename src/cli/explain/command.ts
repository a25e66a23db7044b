import { Command } from "commander";
import { nearestOf } from "../../shared/knownOptions";
import { CliError } from "../errors";
import { jsonOption } from "../flags";
import { Output } from "../output";
import { EXIT, endsByItself, withUsage } from "../run";
import { type ErrorEntry, readErrorPage } from "./errorPage";

export function explainCommand(): Command {
  const command = new Command("explain")
    .summary("explain an error code, a receiver's reason or a finding of doctor")
    .description(
      "Prints what an error code, the reason of a receiver or of verify, or a finding of doctor means, and what to do about it.",
    )
    .argument("<code>", "the code or reason, such as REGISTRATION_PENDING")
    .addOption(jsonOption());
  return withUsage(command, {
    exit: { [EXIT.yes]: "it was explained", [EXIT.no]: "there is no such code or reason" },
    examples: ["explain REGISTRATION_PENDING", "explain signature-mismatch --json"],
  }).action(
    endsByItself(async (code: string, { json }: { json?: boolean }) => {
      explain(code, new Output({ json }));
      return EXIT.yes;
    }),
  );
}

/** @throws CliError `WRONG_USE` that suggests the nearest code. It does not repeat the given one, which may be a secret. */
function explain(code: string, output: Output): void {
  const entries = readErrorPage();
  const entry = entries.find((each) => each.code === code) ?? entries.find((each) => isAlike(each, code));
  if (entry === undefined) {
    const nearest = nearestOf(
      code,
      entries.map((each) => each.code),
    );
    const hint = nearest === undefined ? "." : `; did you mean ${nearest}?`;
    throw new CliError(
      "WRONG_USE",
      `there is no such code or reason${hint} docs/errors.md lists all of them`,
    );
  }
  output.data(entry, () => {
    output.line(entry.code, "bold");
    output.line(`From: ${entry.from.join(", ")}.`);
    output.line();
    output.line(entry.meaning);
    output.line();
    output.line(`What to do: ${entry.whatToDo}`);
  });
}

/** Returns whether a code is an entry's but for case and punctuation, such as "(registration-pending)". */
function isAlike(entry: ErrorEntry, code: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  return plain(entry.code) === plain(code);
}
