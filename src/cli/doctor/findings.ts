import { describeUrl } from "../../shared/url";
import { describeResource } from "../../shared/urn";
import { quoted } from "../../shared/words";
import { duplicatesIn, type Inventory } from "../inventory/inventory";
import { describeOwner, type Holder } from "../inventory/owner";
import { joined } from "../text";

/** What `doctor` can find, besides the codes of errors. Stable; `docs/errors.md` lists them. */
export type FindingCode =
  | "CLOCK_DIFFERS"
  | "LIST_PARTIAL"
  | "STACK_UNREADABLE"
  | "REGISTRATION_PENDING"
  | "OPERATION_INTERRUPTED"
  | "ENDPOINT_GONE"
  | "DUPLICATE"
  | "MANAGED_TWICE"
  | "UNMANAGED"
  | "OTHER_ACCOUNT"
  | "RECEIVER_OUTPUT_MISSING"
  | "NO_STACK"
  | "VERSION_OLD";

/** Something that `doctor` found. */
export interface Finding {
  /** Only errors make the exit status 1. */
  readonly level: "error" | "note";
  /** A `FindingCode`, or the code of an error. */
  readonly code: string;
  readonly message: string;
  /** What to do, to be pasted: a command line, with a comment. */
  readonly remedy: string;
}

export function finding(
  level: Finding["level"],
  code: FindingCode,
  message: string,
  remedy: string,
): Finding {
  return { level, code, message, remedy };
}

/** How far this machine's clock may be from the service's, in seconds. Receivers accept five minutes by default. */
const MOST_SECONDS = 60;
const COMMAND = "npx pulumi-webhook-endpoints";

/** @param seconds the service's clock less this machine's; null if unknown */
export function clockFindings(seconds: number | null): Finding[] {
  if (seconds === null || Math.abs(seconds) <= MOST_SECONDS) return [];
  const direction = seconds > 0 ? "behind" : "ahead of";
  return [
    finding(
      "error",
      "CLOCK_DIFFERS",
      `this machine's clock is ${Math.abs(seconds)} s ${direction} the service's. Receivers refuse deliveries that are 300 s off`,
      "sudo timedatectl set-ntp true   # or synchronize this machine's clock in another way",
    ),
  ];
}

/** Finds what the list shows. */
export function endpointFindings(inventory: Inventory, withStack: (command: string) => string): Finding[] {
  const { entries, list, stacks } = inventory;
  const duplicates = duplicatesIn(inventory);
  const orphans = entries.filter((entry) => entry.owner.kind === "nobody" && !duplicates.has(entry));
  const elsewhere = entries.filter((entry) => entry.owner.kind === "unknown" && !duplicates.has(entry));
  const idsOf = (some: typeof entries) => joined(some.map(({ endpoint }) => endpoint.id));
  const findings: Finding[] = [];
  if (!list.complete || list.unrecognized.length > 0)
    findings.push(
      finding(
        "error",
        "LIST_PARTIAL",
        list.complete
          ? `the service lists ${joined(list.unrecognized.map(({ id }) => id))} in a form that cannot be read`
          : "the service lists only a part of its endpoints, so a lost registration cannot be found",
        `${withStack(`${COMMAND} check-service`)} --url https://hooks.example.com/check   # shows the operator what differs`,
      ),
    );
  for (const [{ endpoint }, { resource }] of duplicates)
    findings.push(
      finding(
        "error",
        "DUPLICATE",
        `${endpoint.id} has the url (${describeUrl(endpoint.url)}) and type of ${describeResource(resource)}, so each event is delivered twice`,
        `${withStack(`${COMMAND} delete ${quoted(endpoint.id)}`)}   # if nothing else needs it`,
      ),
    );
  for (const { endpoint, owner } of entries) {
    const [first, ...more] = owner.kind === "managed" ? managersOf(owner.by) : [];
    if (first === undefined || more.length === 0) continue;
    findings.push(
      finding(
        "error",
        "MANAGED_TWICE",
        `${describeOwner(owner)} manage one endpoint, ${endpoint.id}: the first that deletes it takes it from the others`,
        `${more
          .map(
            ({ stack, resource }) =>
              `pulumi state delete ${quoted(resource.urn)} --stack ${quoted(stack.name)}`,
          )
          .join(" && ")}   # and take it out of that program`,
      ),
    );
  }
  if (orphans.length > 0)
    findings.push(
      finding(
        "note",
        "UNMANAGED",
        `no stack has ${idsOf(orphans)}`,
        `${withStack(`${COMMAND} list --orphans`)}   # then adopt or delete them`,
      ),
    );
  if (elsewhere.length > 0 && !stacks.all && stacks.absence === undefined)
    findings.push(
      finding(
        "note",
        "UNMANAGED",
        `no stack of this project has ${idsOf(elsewhere)}`,
        withStack(`${COMMAND} doctor --all`),
      ),
    );
  return findings;
}

/** Returns the resources that manage an endpoint of one account. Ids may count per account, so those of another one do not count. */
function managersOf([first, ...rest]: readonly [Holder, ...Holder[]]): Holder[] {
  const accountOf = ({ resource: { outputs } }: Holder) => `${outputs?.account} ${outputs?.baseUrl}`;
  return [first, ...rest].filter(
    (each) =>
      each.resource.external !== true &&
      each.resource.delete !== true &&
      accountOf(each) === accountOf(first),
  );
}
