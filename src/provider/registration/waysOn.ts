import { commandLine, isPlainId } from "../../shared/commandLine";
import type { IfExists } from "../settings";
import type { Shown } from "./decide";

/** The verb that settles a pending resource; undefined for a create. It does not see what the program declares, so only the next `up` can. */
export type SettledFor = "read" | "delete" | undefined;

/** Says to set `adoptId`. Only an `up` acts on what a program declares. @param value as `adoptIdOf` returns it */
export function setAdoptId(value: string, settledFor: SettledFor): string {
  return `set adoptId${value}${settledFor === undefined ? "" : ", and run `pulumi up`"}`;
}

export function setRegister(settledFor: SettledFor): string {
  return `set ifExists: "register" for one ${settledFor === undefined ? "run" : "`pulumi up`"}`;
}

/**
 * Returns what a user can do about endpoints that stop a registration.
 *
 * @param isEqual false if the endpoints only nearly have the declared url: then nothing but `adoptId` takes one
 */
export function waysOn(
  endpoints: readonly Shown[],
  { ifExists }: { readonly ifExists?: IfExists | undefined },
  { isEqual = true, settledFor }: { readonly isEqual?: boolean; readonly settledFor?: SettledFor } = {},
): string[] {
  const [{ id } = { id: "" }] = endpoints;
  const isOne = endpoints.length === 1;
  return [
    `If another stack has it (${commandLine("get", id, " --all")} tells, with --json its URN, too), ${IN_ANOTHER_STACK} Or declare another url or type.`,
    `If ${isOne ? "it" : "one of them"} is this resource's, ${setAdoptId(isOne ? adoptIdOf(id) : " to its id", settledFor)}. (A resource that ` +
      "has another endpoint already also needs another name, without an alias.)",
    isEqual && adoptByWord(ifExists),
    `If nobody needs it, delete it with ${commandLine("delete", id)} (in a pipeline with --yes).`,
    `To register another one on purpose, ${setRegister(settledFor)}. Each event is then delivered to both.`,
  ].filter((way) => way !== false);
}

/** Says what to run, and what to declare where, so that a resource of another stack comes here with its endpoint. */
export function howToMoveHere(
  resource: Readonly<Record<"source" | "dest" | "urn" | "name", string>>,
): string {
  const { source, dest, urn, name } = resource;
  return (
    `run \`pulumi state move --source ${source} --dest ${dest} ${urn}\` (in a pipeline with --yes), and declare it here with ${name}, or with an alias ` +
    "of that. Leave its declaration in the other program until that has succeeded. If Pulumi says that a provider already exists, run " +
    `\`pulumi state delete ${urn} --stack ${source}\`, then \`WEBHOOKS_IF_EXISTS=adopt pulumi up\`, and take the declaration out there.`
  );
}

/** Where nobody has looked into other stacks. */
const IN_ANOTHER_STACK = howToMoveHere({
  source: "<its stack>",
  dest: "<this stack>",
  urn: "'<its URN>'",
  name: "its name",
});

function adoptByWord(ifExists: IfExists | undefined): string {
  return ifExists === "adopt"
    ? 'ifExists: "adopt" takes over the only endpoint with this url and type, if the service lists all of its endpoints: delete what nobody needs.'
    : "To take over everything that exists and this program declares, unless another stack has it, run `WEBHOOKS_IF_EXISTS=adopt pulumi up` (in a " +
        "pipeline with --yes; with --refresh, if this run has it), without an edit.";
}

/** Returns the rest of "set adoptId": the id, unless nobody should write it into a program. */
export function adoptIdOf(id: string): string {
  return isPlainId(id) ? `: ${JSON.stringify(id)}` : " to its id";
}
