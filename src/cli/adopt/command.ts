import { Command } from "commander";
import { checkArguments } from "../../provider/arguments";
import { describeResource, nameOf } from "../../shared/urn";
import { quoted } from "../../shared/words";
import { takingIds } from "../arguments";
import { CliError } from "../errors";
import { addStackOptions, type InventoryFlags, inventoryOptions } from "../flags";
import {
  assertOwnershipKnown,
  duplicatesIn,
  type Inventory,
  type InventoryOptions,
  type Listed,
  MARK,
  reasonOfMissing,
  takeInventory,
  warnOfGaps,
} from "../inventory/inventory";
import { explainOwner } from "../inventory/ownership";
import { withoutSecrets } from "../knownSecrets";
import { EXIT, endsByItself, withUsage } from "../oldRun";
import { type Account, withService } from "../service";
import { type Adoption, importFile, namer, programText } from "./text";

const LONE_SURROGATE = /\p{Surrogate}/u;

type Flags = InventoryFlags & { readonly native?: boolean };

export function adoptCommand(): Command {
  const command = takingIds(new Command("adopt"))
    .summary("write the code that takes over unmanaged endpoints")
    .description(
      "Writes code to standard output that takes over the endpoints that no stack has: TypeScript for the program, or a file " +
        "for `pulumi import --file`. It changes nothing itself, and the next `pulumi up` changes nothing at the service.",
    )
    .argument("[id...]", "the endpoints (default: all that no stack has)");
  addStackOptions(command).option(
    "--native",
    "write a file for `pulumi import --file` with the native plugin",
  );
  return withUsage(command, {
    exit: {
      [EXIT.yes]: "the code was written, or there was nothing to adopt",
      [EXIT.no]: "the command failed, or an endpoint cannot be adopted",
    },
    examples: [
      "adopt > adopted.ts",
      "adopt wh_5f0c2d >> index.ts",
      "adopt --native > adopted.json && pulumi import --file adopted.json",
    ],
  }).action(
    endsByItself(async (ids: readonly string[], { native = false, ...flags }: Flags) => {
      await adopt({ ...inventoryOptions(flags), ids, native });
      return EXIT.yes;
    }),
  );
}

interface AdoptOptions extends InventoryOptions {
  readonly ids: readonly string[];
  readonly native: boolean;
}

/** @throws CliError or WebhookError */
export async function adopt(options: AdoptOptions): Promise<void> {
  const { output, ids, native } = options;
  await withService(options, async (account) => {
    const { withStack } = account;
    const inventory = await takeInventory(account, options);
    warnOfGaps(inventory, output);
    assertOwnershipKnown(inventory);
    const entries =
      ids.length === 0
        ? orphansIn(inventory, { output, withStack })
        : [...new Set(ids)].map((id) => entryOf(id, inventory, account));
    const refusals = entries.flatMap(({ endpoint }) => refusalOf(endpoint, { native }) ?? []);
    const adoptable = entries.filter(({ endpoint }) => refusalOf(endpoint, { native }) === undefined);
    if (refusals.length > 0 && (ids.length > 0 || adoptable.length === 0)) throw notAdoptable(refusals);
    if (adoptable.length === 0) {
      output.note("There is nothing to adopt.");
      return;
    }
    for (const { endpoint, shownUrl } of adoptable)
      if (shownUrl !== endpoint.url && !native)
        output.warn(
          `the url of ${endpoint.id} may be a secret, and the code contains it in plain text. Before you commit the code, replace the url with a secret of the stack's configuration`,
        );
    const adoptions = named(adoptable, inventory);
    output.raw(native ? importFile(adoptions) : programText(adoptions));
    output.note(
      native
        ? `Run \`${withStack("pulumi import --file <this file>")}\`, and put the program text that it prints into the program (${adoptions.length} to import).`
        : `Put this into the program and run \`${withStack("pulumi up")}\` (${adoptions.length} to adopt). It shows each as "create", as expected: nothing is registered. Afterwards you can remove adoptId.`,
    );
    if (refusals.length > 0) throw notAdoptable(refusals);
  });
}

/** Returns the endpoints that nobody has, without duplicates, and says which others are left out. */
function orphansIn(
  inventory: Inventory,
  { output, withStack }: Pick<AdoptOptions, "output"> & Pick<Account, "withStack">,
): Listed[] {
  const duplicates = duplicatesIn(inventory);
  return inventory.entries.filter((entry) => {
    const { endpoint, owner } = entry;
    if (owner.kind === "manages") return false;
    if (MARK.test(endpoint.url)) {
      output.warn(
        `${endpoint.id} is left out: check-service registered it, and deletes it when it runs with the same url again. To adopt it anyway, name its id`,
      );
      return false;
    }
    const original = duplicates.get(entry);
    const anyway = owner.kind === "interrupted" ? "" : ". To adopt it anyway, name its id";
    const why =
      explainOwner(owner) ??
      (original &&
        `it has the same url and type as ${describeResource(original)}, so each event is delivered twice. If nothing else needs it, delete it with \`${withStack(`npx pulumi-webhook-endpoints delete ${quoted(endpoint.id)}`)}\``);
    if (why !== undefined) output.warn(`${endpoint.id} is left out: ${why}${anyway}`);
    return why === undefined;
  });
}

/** @throws CliError `NOT_ADOPTABLE` */
function entryOf(id: string, { entries, list }: Inventory, account: Account): Listed {
  const entry = entries.find(({ endpoint }) => endpoint.id === id);
  if (entry === undefined) throw notAdoptable([reasonOfMissing(id, list, account)]);
  if (entry.owner.kind === "manages")
    throw notAdoptable([
      `${id} is already managed: ${describeResource(entry.owner.resource)} (${entry.owner.resource.urn})`,
    ]);
  return entry;
}

function refusalOf(
  { id, url, type }: Listed["endpoint"],
  { native }: { native: boolean },
): string | undefined {
  const { problems } = checkArguments(native ? { url, type } : { url, type, adoptId: id });
  if (LONE_SURROGATE.test(url + id))
    problems.push("it contains half of a surrogate pair, which no request can carry");
  if (!native && withoutSecrets(url) !== url)
    problems.push(
      "its url contains a secret (the API key, a signing secret, or a base URL that is one), which the code would hold in plain text. Declare it by hand, with the url from a secret of the stack's configuration",
    );
  return problems.length === 0 ? undefined : `${id} cannot be declared: ${problems.join("; ")}`;
}

function notAdoptable(reasons: readonly string[]): CliError {
  return new CliError("NOT_ADOPTABLE", reasons.join(". "));
}

function named(adoptable: readonly Listed[], { stacks, list, entries }: Inventory): Adoption[] {
  const taken = stacks.known
    .filter(({ isOwn }) => isOwn)
    .flatMap(({ deployment }) => (deployment.resources ?? []).map(({ urn }) => nameOf(urn)));
  const unmanaged = entries.filter(({ owner }) => owner.kind !== "manages").map(({ endpoint }) => endpoint);
  const nameFor = namer(taken, { endpoints: unmanaged, complete: list.complete });
  return adoptable.map(({ endpoint }) => ({ name: nameFor(endpoint), endpoint }));
}
