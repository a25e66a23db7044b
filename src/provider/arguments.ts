import { unknownOptions } from "../shared/knownOptions";
import { UNKNOWN_VALUE } from "../shared/unknownValue";
import {
  describeUrl,
  hostMistake,
  isAddressOrRange,
  isHttpUrl,
  isUnreachableHost,
  isUrl,
} from "../shared/url";
import type { Context } from "./context";
import { isPendingId } from "./facts/identity";
import { IF_EXISTS } from "./settings";
import type { EndpointInputs, EndpointState } from "./state";

/** What the program's class passes to `check` alone, which strips it: the resource's URN, where the stack is, a secret url. */
export const URN_INPUT = "__urn";
export const ORGANIZATION_INPUT = "__organization";
export const ROOT_INPUT = "__rootDirectory";
export const SECRET_INPUT = "__urlIsSecret";

type Inputs = Readonly<Record<string, unknown>>;

/** What is wrong with an argument's value. */
const PROBLEMS: Readonly<Record<string, (value: unknown) => readonly string[]>> = {
  url: urlProblems,
  type: (value) => oneOf(value, "type", ["production", "development"]),
  ip: (value) =>
    isAddressOrRange(value)
      ? []
      : ['ip must be an IPv4 or IPv6 address or a CIDR range, such as "203.0.113.7" or "2001:db8::/32"'],
  adoptId: adoptIdProblems,
  ifExists: (value) => oneOf(value, "ifExists", IF_EXISTS),
};

/** Returns the arguments without the hidden inputs, and without those that are null: a program passes null for "none". */
export function declaredArguments(news: Inputs): Inputs {
  const isDeclared = ([name, value]: [string, unknown]) => !name.startsWith("__") && value !== null;
  return Object.fromEntries(Object.entries(news).filter(isDeclared));
}

/** Notes what the program's class passes to `check` alone. @returns the URN of the resource */
export function noteHiddenInputs(
  { declarations, stack }: Pick<Context, "declarations" | "stack">,
  news: Inputs,
  inputs: EndpointInputs,
): string | undefined {
  const textOf = (name: string) => (typeof news[name] === "string" && news[name]) || undefined;
  stack.locate({ organization: textOf(ORGANIZATION_INPUT), rootDirectory: textOf(ROOT_INPUT) });
  if (news[SECRET_INPUT] === true) declarations.noteSecretUrl(inputs.url);
  const urn = textOf(URN_INPUT);
  declarations.note(inputs, urn);
  return urn;
}

/**
 * Validates a program's arguments before anything is sent, and returns every problem at once. No problem repeats a url
 * beyond its host, an ip or an id, and none names its property to the engine, which would print the value (engine rule 20).
 */
export function checkArguments(args: Inputs): { problems: string[]; warnings: string[] } {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== UNKNOWN_VALUE);
  const problems = ["url", "type"]
    .filter((name) => args[name] === undefined)
    .map((name) => `${name} is missing`);
  problems.push(...unknownOptions(args, Object.keys(PROBLEMS), "an argument of an endpoint"));
  for (const [name, value] of given)
    if (Object.hasOwn(PROBLEMS, name)) problems.push(...(PROBLEMS[name]?.(value) ?? []));
  return { problems, warnings: unreachableWarnings(args) };
}

/** Returns the arguments that differ, none of which the service can change in place. */
export function changedArguments(olds: EndpointState, news: EndpointInputs): string[] {
  return (["url", "type", "ip"] as const).filter((name) => (olds[name] ?? null) !== (news[name] ?? null));
}

function oneOf(value: unknown, name: string, values: readonly string[]): string[] {
  const isOne = typeof value === "string" && values.includes(value);
  return isOne ? [] : [`${name} must be ${values.map((each) => JSON.stringify(each)).join(" or ")}`];
}

function urlProblems(value: unknown): string[] {
  if (typeof value !== "string" || value === "") return ["url must be a non-empty string"];
  // The words of the SDKs of TypeScript and of Python, in place of the value.
  if (/Calling (\[toString\]|__str__) on an \[?Output/.test(value))
    return [
      "url holds an Output in an ordinary template literal, an f-string or a concatenation; use pulumi.interpolate`…`, " +
        "or in Python pulumi.Output.format(…)",
    ];
  // It is sent as written. What our parser would repair silently, a service may read differently.
  if (/[\s\p{Cc}\\]/u.test(value))
    return ["url must not contain white space, control characters or backslashes"];
  const mistake = hostMistake(value);
  if (mistake !== undefined) return [`url ${mistake}`];
  if (!isHttpUrl(value))
    return ['url must be an absolute URL that begins with "https://" or "http://" and names a host'];
  const problems: string[] = [];
  const { username, password } = new URL(value);
  if (username !== "" || password !== "" || /^[^/?#]*\/\/[^/?#]*@/.test(value))
    problems.push("url must not contain a user name or password; the service signs its deliveries instead");
  if (value.includes("#"))
    problems.push("url must not contain a fragment (#…), which is never sent to a server");
  return problems;
}

function unreachableWarnings({ url: written, type }: Inputs): string[] {
  if (type !== "production" || typeof written !== "string" || !isUrl(written)) return [];
  const url = new URL(written);
  const endpoint = `the production endpoint ${describeUrl(written)}`;
  return [
    isUnreachableHost(url) &&
      `${endpoint} has a host that only a private network can reach: the service cannot deliver to it from the internet`,
    url.protocol === "http:" &&
      `${endpoint} uses plain http: anyone on the network path can read its deliveries. Use https`,
  ].filter((warning) => warning !== false);
}

function adoptIdProblems(value: unknown): string[] {
  if (typeof value !== "string" || value === "" || /[\s\p{Cc}]/u.test(value) || /^\.\.?$/.test(value))
    return ["adoptId must be the id of an endpoint at the service: a string without white space"];
  return isPendingId(value)
    ? ["adoptId must be an id that the service issued, not that of a pending resource"]
    : [];
}
