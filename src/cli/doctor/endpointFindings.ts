import { describeUrl } from "../../shared/url";
import { describeResource } from "../../shared/urn";
import { quoted } from "../../shared/words";
import { duplicatesIn, type Inventory } from "../inventory/inventory";
import { describeOwner, explainOwner, type Owner } from "../inventory/ownership";
import type { Account } from "../service";
import { joined } from "../text";
import { error, type Finding, note } from "./finding";

/** Finds what the endpoints at the service show. */
export function endpointFindings(
  inventory: Inventory,
  { projectOnly, withStack }: { readonly projectOnly: boolean } & Pick<Account, "withStack">,
): Finding[] {
  const { entries, list } = inventory;
  const duplicates = duplicatesIn(inventory);
  const ids = (kind: Owner["kind"]) =>
    entries
      .filter((entry) => entry.owner.kind === kind && !duplicates.has(entry))
      .map(({ endpoint }) => endpoint.id);
  const [orphans, elsewhere] = [ids("nobody"), projectOnly ? ids("unknown") : []];
  const findings = [
    !list.complete &&
      error(
        "LIST_PARTIAL",
        "the service lists only a part of its endpoints",
        "A lost registration can't be settled then. Ask the service's operator for a complete list.",
      ),
    list.unrecognized.length > 0 &&
      note(
        "ENDPOINT_UNREADABLE",
        `the service lists ${joined(list.unrecognized.map(({ id }) => id))} in a form that cannot be read`,
        `\`${withStack("npx pulumi-webhook-endpoints get <id>")}\` says why. The commands neither adopt nor delete such an endpoint. Ask the operator of the service.`,
      ),
    ...[...duplicates].map(([{ endpoint }, manager]) =>
      error(
        "DUPLICATE",
        `${endpoint.id} has the same url (${describeUrl(endpoint.url)}) and type as ${describeResource(manager)}, so each event is delivered twice`,
        `If nothing else needs it, run \`${withStack(`npx pulumi-webhook-endpoints delete ${quoted(endpoint.id)}`)}\`.`,
      ),
    ),
    ...entries.flatMap(({ endpoint, owner }) =>
      owner.kind === "manages" && owner.also.length > 0
        ? [
            error(
              "MANAGED_TWICE",
              `${describeOwner(owner)} manage the same endpoint, ${endpoint.id}. The first stack that deletes it takes it from the others`,
              `Decide which stack keeps it. In each other stack, run \`pulumi state delete <urn>\` for its resource (${[owner.resource, ...owner.also].map(({ urn }) => urn).join(", ")}), and remove that resource from what the stack declares, for example with \`pulumi.getStack()\`.`,
            ),
          ]
        : [],
    ),
    ...entries
      .filter(({ owner }) => owner.kind === "may-hold")
      .map(({ endpoint, owner }) =>
        note(
          "PERHAPS_MANAGED",
          `${endpoint.id} may be managed: ${explainOwner(owner)}`,
          "If the service has moved, or has two names, or its key was rotated, run `pulumi up` in that stack, which records it. Otherwise two accounts use one id, and there is nothing to do.",
        ),
      ),
    orphans.length > 0 &&
      note(
        "UNMANAGED",
        `no stack manages ${joined(orphans)}`,
        `See them with \`${withStack("npx pulumi-webhook-endpoints list --orphans")}\`. Take them over with \`${withStack("adopt")}\`, or delete old ones with \`${withStack("prune")}\`.`,
      ),
    elsewhere.length > 0 &&
      note(
        "UNMANAGED",
        `no stack of this project manages ${joined(elsewhere)}`,
        "To look in the other projects of the backend too, leave out --project-only.",
      ),
  ];
  return findings.filter((finding) => finding !== false);
}
