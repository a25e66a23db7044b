import type { CodedError } from "../../shared/codedError";
import { describeUrl } from "../../shared/url";
import { describeResource } from "../../shared/urn";
import { quoted } from "../../shared/words";
import { duplicatesIn, type Inventory } from "../inventory/inventory";
import { describeOwner, type Holder } from "../inventory/owner";
import { type Stacks, whyUnread } from "../inventory/stacks";
import type { Pulumi } from "../pulumi";
import { joined } from "../text";
import { oldVersions } from "./environment";
import { type Finding, found, type Seen } from "./finding";
import { accountFindings, ownStackFindings, stackFindings } from "./stackFindings";

/** How far this machine's clock may be from the service's, in seconds. Receivers accept five minutes by default. */
const MOST_SECONDS = 60;
const COMMAND = "npx pulumi-webhook-endpoints";

/** Finds what is wrong, the most urgent first. */
export function* findingsIn(seen: Seen): Generator<Finding> {
  const { pulumi, stacks, account, inventory, error, clockDifferenceSeconds: seconds } = seen;
  if (error !== undefined) yield failure(error, pulumi, stacks);
  if (account !== undefined) yield* accountFindings(account, seen);
  if (seconds !== null && Math.abs(seconds) > MOST_SECONDS) {
    const how = `${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} the service's`;
    yield found("CLOCK_DIFFERS", {
      message: `this machine's clock is ${how}. Receivers refuse deliveries that are 300 s off`,
      remedy: "sudo timedatectl set-ntp true   # or synchronize this machine's clock in another way",
    });
  }
  yield* stackFindings(stacks);
  for (const stack of stacks.known) if (stack.isOwn) yield* ownStackFindings(stack, seen);
  if (inventory !== undefined) yield* endpointFindings(inventory, pulumi.withStack);
  for (const { name, version, range, update } of oldVersions(seen.versions))
    yield found("VERSION_OLD", {
      message: `${name} ${version} is older than this package supports (${range})`,
      remedy: update,
    });
}

function failure({ code, reason }: CodedError, { withStack }: Pulumi, { known }: Stacks): Finding {
  const remedies: Readonly<Record<string, string>> = {
    UNAUTHORIZED: `${withStack("pulumi config set --secret webhooks:apiKey")}   # or correct WEBHOOKS_API_KEY`,
    SETTINGS_INVALID: known.some(({ isSelected }) => isSelected)
      ? `${withStack("pulumi config set webhooks:baseUrl https://api.example.com")}   # and what else the message names`
      : "pulumi stack select   # or set WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY",
  };
  const other = `${withStack("pulumi config")}   # check webhooks:baseUrl, follow the message, and run doctor again`;
  return { level: "error", code, message: reason, remedy: remedies[code] ?? other };
}

/** Finds what the list of the service shows. */
function* endpointFindings(inventory: Inventory, withStack: Pulumi["withStack"]): Generator<Finding> {
  const { entries, list, stacks } = inventory;
  const unread = joined(list.unrecognized.map(({ id }) => id));
  if (!list.complete || unread !== "")
    yield found("LIST_PARTIAL", {
      message: list.complete
        ? `the service lists ${unread} in a form that cannot be read`
        : "the service lists only a part of its endpoints, so a lost registration cannot be found",
      remedy: `${withStack(`${COMMAND} check-service`)} --url https://hooks.example.com/check   # shows the operator what differs`,
    });
  const duplicates = duplicatesIn(inventory);
  for (const [{ endpoint }, { resource }] of duplicates)
    yield found("DUPLICATE", {
      message: `${endpoint.id} has the url (${describeUrl(endpoint.url)}) and type of ${describeResource(resource)}, so each event is delivered twice`,
      remedy: `${withStack(`${COMMAND} delete ${quoted(endpoint.id)}`)}   # if nothing else needs it`,
    });
  for (const { endpoint, owner } of entries) {
    const [, ...more] = owner.kind === "managed" ? managersOf(owner.by) : [];
    if (more.length === 0) continue;
    const commands = more.map(
      ({ stack, resource }) => `pulumi state delete ${quoted(resource.urn)} --stack ${quoted(stack.name)}`,
    );
    yield found("MANAGED_TWICE", {
      message: `${describeOwner(owner)} manage one endpoint, ${endpoint.id}: the first that deletes it takes it from the others`,
      remedy: `${commands.join(" && ")}   # and take it out of that program`,
    });
  }
  const rest = entries.filter((entry) => !("by" in entry.owner) && !duplicates.has(entry));
  const isKnown = rest.every(({ owner }) => owner.kind === "nobody");
  if (rest.length === 0 || !(isKnown || whyUnread(stacks) === undefined)) return;
  const ids = joined(rest.map(({ endpoint }) => endpoint.id));
  yield found("UNMANAGED", {
    message: `no stack${isKnown ? "" : " of this project"} has ${ids}`,
    remedy: isKnown
      ? `${withStack(`${COMMAND} list --orphans`)}   # then adopt or delete them`
      : withStack(`${COMMAND} doctor --all`),
  });
}

/** Returns the resources that manage an endpoint of one account. Ids may count per account, so those of another one do not count. */
function managersOf(holders: readonly [Holder, ...Holder[]]): Holder[] {
  const accountOf = ({ resource: { outputs } }: Holder) => `${outputs?.account} ${outputs?.baseUrl}`;
  return holders.filter((each) => {
    const { external, delete: isLeaving } = each.resource;
    return !external && !isLeaving && accountOf(each) === accountOf(holders[0]);
  });
}
