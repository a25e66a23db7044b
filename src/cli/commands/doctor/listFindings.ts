import { COMMAND, commandFor, quoted } from "../../../shared/commandLine";
import { foreign } from "../../../shared/escape";
import { stackOf } from "../../../shared/urn";
import { joined } from "../../../shared/words";
import { type Entry, type Inventory, unmanagedIn, whyHeld } from "../../inventory/inventory";
import { describeOwned, type Owner, type StackResource } from "../../inventory/owner";
import { type KnownStack, shortName } from "../../inventory/stacks";
import type { Pulumi } from "../../pulumi";
import { type Finding, found } from "./finding";
import type { Gone } from "./gone";

/** How far this machine's clock may be from the service's, in seconds. Receivers accept five minutes by default. */
const MOST_SECONDS_APART = 60;

/** Finds what the list of the service shows. What is there again is a finding of its stack. */
export function* listFindings(
  inventory: Inventory,
  { withStack }: Pulumi,
  gone: readonly Gone[],
): Generator<Finding> {
  const { list } = inventory;
  // What a run may be about to record is nobody's for a moment.
  const entries = inventory.entries.filter((entry) => whyHeld(entry, inventory) === undefined);
  const seconds = Math.round(((list.serverTime ?? Date.now()) - Date.now()) / 1_000);
  const how = `${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} the service's`;
  if (Math.abs(seconds) > MOST_SECONDS_APART)
    yield found("CLOCK_DIFFERS", {
      message: `this machine's clock is ${how}. Receivers refuse deliveries that are 300 s off`,
      remedy: "sudo timedatectl set-ntp true   # or synchronize this machine's clock in another way",
    });
  const unread = joined(list.unrecognized.map(({ id }) => id));
  if (!list.complete || unread !== "")
    yield found("LIST_PARTIAL", {
      message: `the service lists only a part of its endpoints, or some that cannot be read${unread && ` (${unread})`}: a lost registration may be among them`,
      remedy: `${withStack(`${COMMAND} check-service`)} --url https://hooks.example.com/check   # shows the operator what differs`,
    });
  const isAllRead = inventory.stacks.gap === undefined;
  for (const { endpoint, shownUrl, duplicateOf } of entries)
    if (duplicateOf !== undefined)
      yield found("DUPLICATE", {
        // Another project may have it on purpose.
        level: isAllRead ? "error" : "note",
        message: `${foreign(endpoint.id)} has the url (${shownUrl}) and type of ${describeOwned(duplicateOf)}, so each event is delivered twice`,
        remedy: isAllRead
          ? `${withStack(commandFor("delete", endpoint.id))}   # if nothing else needs it`
          : `${withStack(commandFor("get", endpoint.id, " --all"))}   # says whether another project has it, perhaps on purpose; if none has: ${commandFor("delete", endpoint.id)}`,
      });
  yield* managedTwice(entries);
  const rest = unmanagedIn(inventory).filter((each) => !gone.some(({ successor }) => successor === each));
  if (rest.length === 0) return;
  // What is gone may have one of these urls, which its state may encrypt: without a refresh, it counts as unchanged.
  const refresh = gone.length === 0 ? "" : " --refresh";
  yield found("UNMANAGED", {
    message: `${rest[0]?.owner.shown} has ${joined(rest.map(({ endpoint }) => endpoint.id))}`,
    remedy: `${withStack(`${COMMAND} list --orphans`)}   # then, of those that no other stack has, adopt or delete each, or all that the program declares: WEBHOOKS_IF_EXISTS=adopt pulumi up${refresh} --stack <the one that declares them>`,
  });
}

/** One finding for all endpoints that the same stacks have. Only a person knows which of them is to keep them. */
function* managedTwice(entries: readonly Entry[]): Generator<Finding> {
  const groups = new Map<string, { readonly id: string; readonly managers: readonly StackResource[] }[]>();
  for (const { endpoint, owner } of entries) {
    const managers = managersIn(owner);
    if (managers.length < 2) continue;
    const key = managers.map(({ stack }) => stack.name).join(" ");
    groups.set(key, [...(groups.get(key) ?? []), { id: endpoint.id, managers }]);
  }
  for (const group of groups.values()) {
    const stacks = [...new Set(group.flatMap(({ managers }) => managers.map(({ stack }) => stack)))];
    // An imported copy of a state has the URNs of another stack, so its program cannot use them. Of the rest, the selected one comes first.
    const isCopy = (each: KnownStack) =>
      group.some(({ managers }) =>
        managers.some(
          ({ stack, resource }) => stack === each && stackOf(resource.urn).stack !== shortName(each.name),
        ),
      );
    stacks.sort(
      (a, b) => Number(isCopy(a)) - Number(isCopy(b)) || Number(b.isSelected) - Number(a.isSelected),
    );
    const names = joined(stacks.map(({ name }) => name));
    const shown = joined(group.map(({ id }) => id));
    /** Makes all stacks but one forget the endpoints. */
    const keepingIn = (kept: KnownStack | undefined) => {
      const forgetful = group.flatMap(({ managers }) => managers.filter(({ stack }) => stack !== kept));
      const lines = forgetful.map(
        ({ stack, resource }) => `pulumi state delete ${quoted(resource.urn)} --stack ${quoted(stack.name)}`,
      );
      return `${lines.join(" && ")}   # if ${foreign(kept?.name ?? "")} is to keep them: then take them out of the other program, or, if both are stacks of one program, give each its own urls`;
    };
    const isOne = stacks.length === 1;
    yield found("MANAGED_TWICE", {
      message: isOne
        ? `several resources of the stack ${names} have ${shown}: the first that deletes it takes it from the others`
        : `the stacks ${names} have ${shown}: the first that deletes one takes it from the others. Choose which stack keeps them`,
      remedy: isOne
        ? `pulumi stack export --stack ${quoted(stacks[0]?.name ?? "")}   # shows them: take all but one out of the program with pulumi state delete`
        : keepingIn(stacks[0]),
      ...(stacks[1] && !isCopy(stacks[1]) && { otherwise: keepingIn(stacks[1]) }),
    });
  }
}

/** Returns the resources that manage an endpoint of one account. Ids may count per account, so those of another one do not count. */
function managersIn({ kind, by }: Owner): StackResource[] {
  const accountOf = ({ resource: { outputs } }: StackResource) => `${outputs?.account} ${outputs?.baseUrl}`;
  const managers = by.filter(({ resource }) => !resource.external && !resource.delete && kind === "managed");
  return managers.filter((each, _, [first = each]) => accountOf(each) === accountOf(first));
}
