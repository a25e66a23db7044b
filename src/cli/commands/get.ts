import { Argument } from "commander";
import { entryOf, takeInventory } from "../inventory/inventory";
import { dataOf, printTable } from "../inventory/printEntries";
import { allOption, jsonOption, stackOption } from "../options";
import type { Subcommand } from "../run";
import { withAccount } from "../withAccount";

interface Flags {
  readonly all?: boolean;
}

export const get: Subcommand<Flags> = {
  summary: "show one endpoint, and who has it",
  description: "Shows one endpoint, its age, and the resource that has it.",
  arguments: [new Argument("<id>", "the endpoint")],
  options: [allOption(), stackOption(), jsonOption()],
  examples: ["get wh_5f0c2d", "get wh_5f0c2d --all --json"],
  run: (context, { all = false }, [id = ""]) =>
    withAccount(context, async (account) => {
      const entry = entryOf(id, await takeInventory(context, account, { all }));
      context.output.data(dataOf(entry), () => printTable(context, [entry]));
      return true;
    }),
};
