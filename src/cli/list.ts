import { Argument, Option } from "commander";
import { withAccount } from "./account";
import {
  assertOwnersKnown,
  dataOf,
  type Entry,
  entryOf,
  takeInventory,
  warnOfGaps,
} from "./inventory/inventory";
import { describeOwner } from "./inventory/owner";
import { jsonOption, stackOption } from "./options";
import type { Context, Subcommand } from "./run";
import { describeAge } from "./text";

interface Flags {
  /** Reads the stacks of the whole backend. */
  readonly all?: boolean;
  readonly orphans?: boolean;
}

const allOption = () => new Option("--all", "read the stacks of the whole backend, not just of this project");

export const list: Subcommand<Flags> = {
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
    const { output } = context;
    return withAccount(context, async (account) => {
      const inventory = await takeInventory(context, account, { all: all || orphans });
      warnOfGaps(context, inventory);
      if (orphans) assertOwnersKnown(inventory);
      const shown = inventory.entries.filter(({ owner }) => !orphans || owner.kind === "nobody");
      output.data(shown.map(dataOf), () => {
        if (shown.length === 0) output.note(orphans ? "There are no orphans." : "There are no endpoints.");
        else
          output.table(
            ["ID", "TYPE", "AGE", "URL", "MANAGED BY"],
            shown.map(({ endpoint: { id, type }, ageMs, shownUrl, owner }) => [
              ...[id, type, describeAge(ageMs), shownUrl, describeOwner(owner)],
            ]),
          );
      });
      noteHosts(context, shown, all || orphans);
      return true;
    });
  },
};

export const get: Subcommand<Omit<Flags, "orphans">> = {
  description: "Shows one endpoint, its age, and the resource that has it.",
  arguments: [new Argument("<id>", "the endpoint")],
  options: [allOption(), stackOption(), jsonOption()],
  examples: ["get wh_5f0c2d", "get wh_5f0c2d --all --json"],
  async run(context, { all = false }, [id = ""]) {
    const { output } = context;
    return withAccount(context, async (account) => {
      const inventory = await takeInventory(context, account, { all, ids: [id] });
      const entry = entryOf(id, inventory);
      warnOfGaps(context, inventory);
      const { type, createdAt, updatedAt } = entry.endpoint;
      output.data(dataOf(entry), () => {
        output.line(`id:         ${id}`);
        output.line(`url:        ${entry.shownUrl}`);
        output.line(`type:       ${type}`);
        output.line(`created:    ${createdAt ?? "unknown"} (${describeAge(entry.ageMs)} ago)`);
        output.line(`updated:    ${updatedAt ?? "unknown"}`);
        output.line(`managed by: ${describeOwner(entry.owner)}`);
      });
      noteHosts(context, [entry], all);
      return true;
    });
  },
};

function noteHosts({ output }: Context, shown: readonly Entry[], all: boolean): void {
  if (shown.every(({ endpoint, shownUrl }) => endpoint.url === shownUrl)) return;
  const more = all ? "" : " --all reads every stack.";
  output.note(`Only the host is shown of a url that a stack keeps as a secret, or may keep.${more}`);
}
