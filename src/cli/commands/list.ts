import { Option } from "commander";
import { COMMAND } from "../../shared/commandLine";
import { countOf } from "../../shared/words";
import { takeInventory } from "../inventory/inventory";
import { dataOf, printTable } from "../inventory/printEntries";
import { recordedWithSettings } from "../inventory/stacks";
import { allOption, jsonOption, stackOption } from "../options";
import type { Subcommand } from "../run";
import { withAccount } from "../withAccount";

interface Flags {
  /** Reads the stacks of the whole backend. */
  readonly all?: boolean;
  readonly orphans?: boolean;
}

export const list: Subcommand<Flags> = {
  summary: "show every endpoint, and who has it",
  description:
    "Shows every endpoint that the service lists, its age, and the resource that has it. It reads the stacks of this folder's project; " +
    "with --orphans, those of the whole backend.",
  options: [
    allOption(),
    new Option("--orphans", "show only the endpoints that no stack of the backend has"),
    stackOption(),
    jsonOption(),
  ],
  examples: ["list", "list --all --json", "list --orphans"],
  async run(context, { all = false, orphans = false }) {
    const { output, pulumi } = context;
    const doctor = pulumi.withStack(`${COMMAND} doctor`);
    return withAccount(context, async (account) => {
      const { entries, stacks } = await takeInventory(context, account, { all, orphans });
      const shown = entries.filter(({ owner }) => !orphans || owner.kind === "nobody");
      output.data(shown.map(dataOf), () => {
        if (shown.length === 0) output.note(orphans ? "There are no orphans." : "There are no endpoints.");
        else printTable(context, shown);
        const recorded = stacks.known.filter(({ isOwn }) => isOwn).flatMap(recordedWithSettings);
        // An empty list of the wrong account looks like a loss.
        if (recorded.length > 0 && !entries.some(({ owner }) => owner.kind === "managed"))
          output.note(
            `The stacks of this project have ${countOf(recorded.length, "endpoint")}, and the account of this API key has none of them: ${doctor} says why.`,
          );
        const pending = entries.filter(({ owner }) => owner.kind === "pending").length;
        if (orphans && pending > 0)
          output.note(
            `${countOf(pending, "endpoint")} may be of a run that has not ended, so no orphan: ${doctor} says what to do.`,
          );
      });
      return true;
    });
  },
};
