import { ENDPOINT_TYPES, type EndpointType } from "../shared/endpointType";
import { UNKNOWN_VALUE, unknownOptions } from "../shared/optionChecks";
import { isPendingId } from "../shared/permanent";
import {
  describeUrl,
  hostMistake,
  isAddressOrRange,
  isHttpUrl,
  isUnreachableHost,
  isUrl,
} from "../shared/url";
import { IF_EXISTS, type IfExists } from "./settings";

type Inputs = Readonly<Record<string, unknown>>;

/** The arguments as the verbs get them, as plain values. An argument left out is absent, never null. */
export interface EndpointArguments {
  url: string;
  type: EndpointType;
  ip?: string;
  adoptId?: string;
  ifExists?: IfExists;
}

interface Argument {
  /** Says what is wrong with a value. */
  readonly problems: (value: unknown) => readonly string[];
  readonly isRequired: boolean;
  /** Whether a change replaces the endpoint: the service cannot change one in place. */
  readonly replaces: boolean;
}

/** Everything about the arguments but their sentences, which stand at `WebhookEndpointArgs`, in the plugin's schema and in docs/resource.md. */
export const ARGUMENTS = {
  url: { problems: urlProblems, isRequired: true, replaces: true },
  type: { problems: (value) => oneOf(value, "type", ENDPOINT_TYPES), isRequired: true, replaces: true },
  ip: { problems: ipProblems, isRequired: false, replaces: true },
  adoptId: { problems: adoptIdProblems, isRequired: false, replaces: false },
  ifExists: { problems: (value) => oneOf(value, "ifExists", IF_EXISTS), isRequired: false, replaces: false },
} as const satisfies { readonly [Name in keyof Required<EndpointArguments>]: Argument };

export type ArgumentName = keyof typeof ARGUMENTS;
export const ARGUMENT_NAMES = Object.keys(ARGUMENTS) as ArgumentName[];
/** The arguments that a program must give. */
export const REQUIRED_ARGUMENTS = ARGUMENT_NAMES.filter((name) => ARGUMENTS[name].isRequired);

/** The arguments whose change replaces the endpoint. */
export type ReplacingArgument = {
  [Name in ArgumentName]: (typeof ARGUMENTS)[Name]["replaces"] extends true ? Name : never;
}[ArgumentName];
export const REPLACING_ARGUMENTS = ARGUMENT_NAMES.filter(
  (name): name is ReplacingArgument => ARGUMENTS[name].replaces,
);

/** What the state holds of the arguments: those whose change replaces. One that was left out is null. */
export type RecordedArguments = {
  [Name in ReplacingArgument]:
    | Exclude<EndpointArguments[Name], undefined>
    | (undefined extends EndpointArguments[Name] ? null : never);
};

/** What is recorded of arguments, of a state, or of an endpoint as the service describes it. */
export type Recordable = Pick<RecordedArguments, "url" | "type"> & Partial<RecordedArguments>;

/** Returns what the state holds of the arguments. */
export function recordedArguments(args: Recordable): RecordedArguments {
  const entries = REPLACING_ARGUMENTS.map((name) => [name, args[name] ?? null]);
  return Object.fromEntries(entries) as RecordedArguments;
}

/** Returns one string for equal arguments. */
export function keyOfArguments(args: EndpointArguments): string {
  return JSON.stringify(ARGUMENT_NAMES.map((name) => args[name]));
}

/** Returns the arguments without the hidden inputs, and without those that are null: a program passes null for "none". */
export function declaredArguments(news: Inputs): Inputs {
  const isDeclared = ([name, value]: [string, unknown]) => !name.startsWith("__") && value !== null;
  return Object.fromEntries(Object.entries(news).filter(isDeclared));
}

/**
 * Validates a program's arguments before anything is sent, and returns every problem at once. No problem repeats a url
 * beyond its host, an ip or an id, and none names its property to the engine, which would print the value (engine rule 20).
 */
export function checkArguments(args: Inputs): { problems: string[]; warnings: string[] } {
  const isGiven = (name: ArgumentName) => args[name] !== undefined && args[name] !== UNKNOWN_VALUE;
  const missing = REQUIRED_ARGUMENTS.filter((name) => args[name] === undefined);
  const problems = missing.map((name) => `${name} is missing`);
  problems.push(...unknownOptions(args, ARGUMENT_NAMES, "an argument of an endpoint"));
  for (const name of ARGUMENT_NAMES.filter(isGiven)) problems.push(...ARGUMENTS[name].problems(args[name]));
  return { problems, warnings: unreachableWarnings(args) };
}

/** Returns the arguments that differ, of those whose change replaces the endpoint. */
export function changedArguments(
  olds: Readonly<Partial<Record<ArgumentName, unknown>>>,
  news: EndpointArguments,
): ReplacingArgument[] {
  const differs = (name: ReplacingArgument) => (olds[name] ?? null) !== (news[name] ?? null);
  return REPLACING_ARGUMENTS.filter(differs);
}

function ipProblems(value: unknown): string[] {
  return isAddressOrRange(value)
    ? []
    : ['ip must be an IPv4 or IPv6 address or a CIDR range, such as "203.0.113.7" or "2001:db8::/32"'];
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
