import { Command } from "commander";
import { systemClock } from "../../client/clock";
import { checkEndpointUrl } from "../arguments";
import { CliError } from "../errors";
import { jsonOption, stackOption } from "../flags";
import { type InventoryOptions, type Listed, takeInventory } from "../inventory/inventory";
import { Output } from "../output";
import { Pulumi } from "../pulumi";
import { EXIT, endOnInterrupt, fail, failIfUnwritable, withUsage } from "../run";
import { type Account, openService } from "../service";
import { stopSignal } from "../stopSignal";
import { type Asking, agrees, withTerminal } from "../terminal";
import { checkService } from "./checkService";

interface Flags {
  readonly url: string;
  readonly stack?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function checkServiceCommand(): Command {
  const command = new Command("check-service")
    .summary("check whether a service keeps the contract")
    .description(
      "Plays the contract (docs/service-contract.md) at the configured service, and says of each clause whether the service meets it, " +
        "what came back, and what this package does if it differs. It asks first, then registers up to three development endpoints, " +
        "and deletes them.",
    )
    .usage("--url <url> [options]")
    .requiredOption(
      "--url <url>",
      "your own url that the check may register; the service may send it events meanwhile",
    )
    .addOption(stackOption())
    .option("-y, --yes", "register without asking")
    .addOption(jsonOption());
  return withUsage(command, {
    exit: {
      [EXIT.yes]: "no clause differs",
      [EXIT.no]: "a clause differs, or the command failed, or could not delete what it registered",
      [EXIT.interrupted]:
        "Ctrl-C ended it, and nothing of it is left; or a second one, which names what may be left",
    },
    examples: [
      "check-service --url https://hooks.example.com/check",
      "check-service --url https://hooks.example.com/check --stack dev --yes --json",
    ],
  }).action(run);
}

async function run({ url, stack, yes = false, json }: Flags): Promise<void> {
  const output = new Output({ json });
  failIfUnwritable();
  const release = endOnInterrupt();
  checkEndpointUrl(url, "--url");
  const pulumi = Pulumi.withSettings(stack);
  const opening = openService({ pulumi });
  const account = await output.during(() => "Reading the stack's settings…", opening);
  const stopping = new AbortController();
  try {
    const ended = await withTerminal({ yes }, (asking) =>
      checkService({
        ...{ account, url, output, clock: systemClock, stopped: stopping.signal },
        ask: async (question) => {
          for (const line of question) output.note(line);
          return yes || agrees(await answerOf(asking));
        },
        heldOf: (ids) => heldOf(ids, account, { pulumi, output }),
        onRegistering: (whatMayBeLeft) => {
          release();
          void stopSignal({ left: whatMayBeLeft }).then(() => {
            output.note("Stopping. The endpoints are deleted first. To stop at once, press Ctrl-C again.");
            stopping.abort();
          });
        },
      }),
    );
    if (ended === "declined")
      throw new CliError("INTERRUPTED", "nothing was registered, as you did not agree");
    if (ended === "stopped")
      fail(new CliError("INTERRUPTED", "a signal ended the check. Nothing of it is left"));
    // Its output may have failed, even if nothing differs.
    if (ended !== "meets") process.exitCode = ended === "differs" ? EXIT.no : EXIT.interrupted;
  } finally {
    release();
    await account.client.close();
  }
}

/** Returns which of some endpoints a stack has, or may have. Without a stack, the service's list alone decides. */
export async function heldOf(
  ids: readonly string[],
  account: Account,
  options: Pick<InventoryOptions, "pulumi" | "output">,
): Promise<ReadonlySet<string>> {
  const { entries, stacks } = await takeInventory(account, { ...options, ids, alsoStacks: [] });
  const mayHold = ({ owner: { kind } }: Listed) =>
    kind === "unknown" ? stacks.unreadable.length > 0 : kind !== "nobody";
  const held = entries.filter(mayHold).map(({ endpoint }) => endpoint.id);
  return new Set(held.filter((id) => ids.includes(id)));
}

/** @throws CliError `WRONG_USE` without a terminal */
function answerOf({ ask }: Asking): Promise<string> {
  if (ask !== undefined) return ask("Go on? [y/N] ");
  throw new CliError(
    "WRONG_USE",
    "without a terminal, nobody can be asked. Add --yes to register without a question",
  );
}
