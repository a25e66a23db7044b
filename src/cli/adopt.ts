import { Command } from "commander";
import { checkArguments } from "../endpoint/arguments";
import { nameOf } from "../settlement/deployment";
import { namer } from "./adoption/names";
import { type Adoption, importFile, programText } from "./adoption/text";
import { duplicatesIn } from "./duplicates";
import { CliError } from "./errors";
import { alsoStackOption, type InventoryFlags, stackOption } from "./flags";
import {
  assertOwnershipKnown,
  describeClaim,
  describeOwner,
  type Entry,
  type Inventory,
  type InventoryOptions,
  takeInventory,
  warnOfGaps,
} from "./inventory";
import { Output } from "./output";
import { Pulumi } from "./pulumi";
import { EXIT, endsByItself, exitHelp } from "./run";
import { openService } from "./service";

type Flags = Omit<InventoryFlags, "json"> & { readonly native?: boolean };

export function adoptCommand(): Command {
  return new Command("adopt")
    .summary("write the code that takes over unmanaged endpoints")
    .description(
      "Writes code to standard output that takes over the endpoints that no stack manages: TypeScript for the program, or a file " +
        "for `pulumi import --file`. It changes nothing itself, and the next `pulumi up` changes nothing at the service.",
    )
    .argument("[id...]", "the endpoints (default: all that no stack manages)")
    .addOption(stackOption())
    .addOption(alsoStackOption())
    .option("--native", "write a file for `pulumi import --file` with the native plugin")
    .addHelpText(
      "after",
      `${exitHelp({
        [EXIT.yes]: "the code was written, or there was nothing to adopt",
        [EXIT.no]: "the command failed, or an endpoint cannot be adopted",
        [EXIT.interrupted]: "Ctrl-C ended it",
      })}
Examples:
  $ npx webhook-endpoints adopt > adopted.ts
  $ npx webhook-endpoints adopt wh_5f0c2d >> index.ts
  $ npx webhook-endpoints adopt --native > adopted.json && pulumi import --file adopted.json`,
    )
    .action(
      endsByItself(async (ids: readonly string[], { stack, alsoStack, native = false }: Flags) => {
        await adopt({ pulumi: new Pulumi(stack), alsoStacks: alsoStack, output: new Output(), ids, native });
        return EXIT.yes;
      }),
    );
}

export interface AdoptOptions extends InventoryOptions {
  readonly ids: readonly string[];
  readonly native: boolean;
}

/** @throws CliError or WebhookError */
export async function adopt(options: AdoptOptions): Promise<void> {
  const { output, ids, native } = options;
  const account = await openService(options);
  try {
    // Two stacks must not manage one endpoint, so the stacks of other projects count too.
    const inventory = await takeInventory(account, { ...options, scope: "backend" });
    warnOfGaps(inventory, output);
    assertOwnershipKnown(inventory.stacks);
    const entries =
      ids.length === 0 ? unmanagedIn(inventory, output) : ids.map((id) => entryOf(id, inventory));
    const refusals = entries.flatMap(({ endpoint }) => refusalOf(endpoint, { native }) ?? []);
    const adoptable = entries.filter(({ endpoint }) => refusalOf(endpoint, { native }) === undefined);
    if (refusals.length > 0 && (ids.length > 0 || adoptable.length === 0)) throw notAdoptable(refusals);
    if (adoptable.length === 0) {
      output.note("There is nothing to adopt.");
      return;
    }
    const adoptions = named(adoptable, inventory);
    output.raw(native ? importFile(adoptions) : programText(adoptions));
    output.note(
      native
        ? `Run \`pulumi import --file <this file>\`, and put the program text that it prints into the program (${adoptions.length} to import).`
        : `Put this into the program and run \`pulumi up\` (${adoptions.length} to adopt). It shows each as "create", as expected: nothing is registered. Afterwards you can remove adoptId.`,
    );
    if (refusals.length > 0) throw notAdoptable(refusals);
  } finally {
    await account.client.close();
  }
}

/** Returns the endpoints that nothing manages, without duplicates and those that may belong to somebody all the same. */
function unmanagedIn(inventory: Inventory, output: Output): Entry[] {
  const duplicates = duplicatesIn(inventory);
  return inventory.entries.filter((entry) => {
    const { endpoint, manager, reader, claimant } = entry;
    const { id } = endpoint;
    if (manager !== undefined) return false;
    const original = duplicates.get(entry);
    if (claimant !== undefined) output.warn(`${id} is left out: ${describeClaim(claimant)}`);
    else if (reader !== undefined)
      output.warn(
        `${id} is left out: ${describeOwner(reader)} only reads it, so another program may manage it. To adopt it anyway, name its id`,
      );
    else if (original !== undefined)
      output.warn(
        `${id} is left out: it has the same url and type as ${describeOwner(original)}, so each event is delivered twice. If nothing else needs it, delete it at the service. To adopt it anyway, name its id`,
      );
    return claimant === undefined && reader === undefined && original === undefined;
  });
}

/** @throws CliError `NOT_ADOPTABLE` */
function entryOf(id: string, { entries, list }: Inventory): Entry {
  const entry = entries.find(({ endpoint }) => endpoint.id === id);
  if (list.unrecognized.some((each) => each.id === id))
    throw notAdoptable([`the type of ${id} at the service is neither production nor development`]);
  if (entry === undefined)
    throw notAdoptable([
      list.complete
        ? `the service has no endpoint ${id}`
        : `the service did not list the endpoint ${id}, and listed only a part of its endpoints`,
    ]);
  if (entry.manager !== undefined)
    throw notAdoptable([`${id} is already managed: ${describeOwner(entry.manager)} (${entry.manager.urn})`]);
  return entry;
}

/** Returns why an endpoint cannot be declared as it is, or undefined. */
function refusalOf(
  { id, url, type }: Entry["endpoint"],
  { native }: { native: boolean },
): string | undefined {
  const { problems } = checkArguments(native ? { url, type } : { url, type, adoptId: id });
  return problems.length === 0 ? undefined : `${id} cannot be declared: ${problems.join("; ")}`;
}

function notAdoptable(reasons: readonly string[]): CliError {
  return new CliError("NOT_ADOPTABLE", reasons.join(". "));
}

function named(entries: readonly Entry[], { stacks }: Inventory): Adoption[] {
  const taken = stacks.known.flatMap(({ deployment }) =>
    (deployment.resources ?? []).map(({ urn }) => nameOf(urn)),
  );
  const nameFor = namer(taken);
  return entries.map(({ endpoint }) => ({ name: nameFor(endpoint.url), endpoint }));
}
