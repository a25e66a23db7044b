import { createHash } from "node:crypto";
import { Argument, Option } from "commander";
import type { Endpoint } from "../../client";
import { checkArguments } from "../../provider/arguments";
import { foreign, printable } from "../../shared/escape";
import { masked } from "../../shared/masking";
import { NATIVE_TYPE_TOKEN } from "../../shared/permanent";
import { nameOf } from "../../shared/urn";
import { CliError } from "../errors";
import { type Entry, type Inventory, namedEntries, takeInventory, whyHeld } from "../inventory/inventory";
import { describeOwned } from "../inventory/owner";
import { selectedIn, shortName } from "../inventory/stacks";
import { jsonOption, stackOption } from "../options";
import type { Context, Subcommand } from "../run";
import { withAccount } from "../withAccount";

/** The longest name of a resource that is made of a url, in characters. */
const LONGEST_NAME = 100;
const REPLACED_FILE =
  "If this replaces the file of an earlier run, restore that first: Pulumi deletes what the program no longer declares.";
const IS_DECLARED =
  "If the program declares one of these urls already, don't declare it twice: leave it out of the file, and run `WEBHOOKS_IF_EXISTS=adopt pulumi up`, " +
  "or set its adoptId in the program.";
const IS_SECRET =
  "its url is a secret, which the code would hold in plain text. Declare it by hand, with adoptId and the url from a secret of the stack's configuration";

interface Flags {
  readonly native?: boolean;
}

/** A resource to declare, and the endpoint that it takes over. */
interface Adoption extends Pick<Endpoint, "id" | "url" | "type"> {
  readonly name: string;
}

export const adopt: Subcommand<Flags> = {
  summary: "write the code that takes over endpoints that no stack has",
  description:
    "Writes code to standard output that takes over endpoints that no stack has: TypeScript, or a file for `pulumi import --file`. It changes " +
    "nothing itself, and the next `pulumi up` changes nothing at the service.",
  arguments: [new Argument("[id...]", "the endpoints (default: all that no stack has)")],
  options: [
    new Option("--native", "write a file for `pulumi import --file`, for the native plugin"),
    ...[stackOption(), jsonOption()],
  ],
  examples: ["adopt > adopted.ts", "adopt wh_5f0c2d", "adopt --native > adopted.json"],
  run: (context, { native = false }, ids) =>
    withAccount(context, async (account) => {
      const { output } = context;
      const { withStack } = context.pulumi;
      const inventory = await takeInventory(context, account, { orphans: true });
      const whyNot = (entry: Entry) => entry.owner.whyNotOrphan ?? whyUndeclarable(context, entry, native);
      const isNamed = ids.length > 0;
      const wanted = isNamed ? namedEntries(ids, inventory, "adopted", whyNot) : inventory.entries;
      const entries = adoptable(
        context,
        wanted,
        (entry) => whyHeld(entry, inventory) ?? whyNot(entry) ?? (isNamed ? undefined : whyDoubtful(entry)),
      );
      const adoptions = namedAfterUrls(entries, inventory);
      const code = native ? importFile(adoptions) : programText(adoptions, inventory);
      output.data({ adoptions, code }, () => {
        if (adoptions.length > 0) output.raw(code);
      });
      const todo = native
        ? `Run \`${withStack("pulumi import --file <this file>")}\`, and put the code that it prints into the program.`
        : `Import this file into the program, and run \`${withStack("pulumi up")}\`. It shows "create", and registers nothing. Afterwards you can remove adoptId. ${IS_DECLARED} ${REPLACED_FILE}`;
      output.note(adoptions.length > 0 ? todo : `There is nothing to adopt. ${REPLACED_FILE}`);
      return !isNamed || entries.length === wanted.length;
    }),
};

/** Returns the orphans that can be adopted, and says why it leaves out others that no resource has. */
function adoptable(
  { output }: Context,
  entries: readonly Entry[],
  whyNot: (entry: Entry) => string | undefined,
): Entry[] {
  return entries.filter((entry) => {
    if (entry.owner.kind === "managed") return false;
    const why = whyNot(entry);
    if (why !== undefined) output.warn(`${foreign(entry.endpoint.id)} is left out: ${why}`);
    return why === undefined;
  });
}

/** Only who names a duplicate wants it. */
function whyDoubtful({ duplicateOf }: Entry): string | undefined {
  if (duplicateOf === undefined) return undefined;
  return `it has the url and type of ${describeOwned(duplicateOf)}. Delete it, or adopt it by its id`;
}

function whyUndeclarable({ output }: Context, entry: Entry, native: boolean): string | undefined {
  const { id, url, type } = entry.endpoint;
  if (!native && (entry.shownUrl !== url || output.masked(url) !== url)) return IS_SECRET;
  return checkArguments({ url, type, adoptId: id }).problems[0];
}

/**
 * Names resources after the host and the path of their url. Names stand in messages, so a path that may hold a token is left out, as the
 * query always is. A name that is taken gets a part of the id's hash.
 */
function namedAfterUrls(entries: readonly Entry[], { stacks }: Inventory): Adoption[] {
  const own = stacks.known.filter(({ isOwn }) => isOwn);
  const taken = new Set(own.flatMap(({ deployment }) => deployment.resources.map(({ urn }) => nameOf(urn))));
  return entries.map(({ endpoint: { id, url, type } }) => {
    const { hostname, pathname } = new URL(url);
    const path = masked(pathname) === pathname ? pathname.toLowerCase() : "";
    const slug = `${hostname}${path}`
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, LONGEST_NAME)
      .replace(/^-|-$/g, "");
    const hash = createHash("sha256").update(id).digest("hex").slice(0, 8);
    const name = taken.has(slug) ? `${slug}-${hash}` : slug;
    taken.add(name);
    return { name, id, url, type };
  });
}

/** Returns a TypeScript file. Only the selected stack adopts the endpoints. @throws CliError `WRONG_USE` if none is selected */
function programText(adoptions: readonly Adoption[], { stacks }: Inventory): string {
  const selected = selectedIn(stacks.known);
  if (selected === undefined)
    throw new CliError(
      "WRONG_USE",
      "no stack is selected that could adopt the endpoints. Name one with --stack",
    );
  const literal = (value: string) => printable(JSON.stringify(value));
  const declarations = adoptions.map(
    ({ name, id, url, type }) => `  new WebhookEndpoint(${literal(name)}, {
    url: ${literal(url)},
    type: ${literal(type)},
    adoptId: ${literal(id)},
  });
`,
  );
  return `import * as pulumi from "@pulumi/pulumi";
import { WebhookEndpoint } from "pulumi-webhook-endpoints";

// For one stack only: \`pulumi destroy\` deletes what a stack has adopted.
if (pulumi.getStack() === ${literal(shortName(selected.name))}) {
${declarations.join("")}}
`;
}

function importFile(adoptions: readonly Adoption[]): string {
  const resources = adoptions.map(({ name, id }) => ({ type: NATIVE_TYPE_TOKEN, name, id }));
  return `${printable(JSON.stringify({ resources }))}\n`;
}
