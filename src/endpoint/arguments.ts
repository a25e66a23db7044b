import { isProvisional } from "../settlement/identity";
import { unknownOptions } from "../shared/knownOptions";
import { UNKNOWN_VALUE } from "../shared/unknownValue";
import { describeUrl, isAddressOrRange, isHttpUrl, isUnreachableHost, isUrl } from "../shared/url";
import type { EndpointInputs, EndpointState } from "./types";

/** The input that carries a resource's name to `check`, which messages need and the state does not. */
export const NAME_INPUT = "__resourceName";

/** What is wrong with an argument's value. */
const PROBLEMS: Readonly<Record<string, (value: unknown) => readonly string[]>> = {
  url: urlProblems,
  type: (value) =>
    value === "production" || value === "development" ? [] : ['type must be "production" or "development"'],
  ip: (value) =>
    isAddressOrRange(value)
      ? []
      : ['ip must be an IPv4 or IPv6 address or a CIDR range, such as "203.0.113.7" or "2001:db8::/32"'],
  adoptId: adoptIdProblems,
  ifExists: (value) =>
    value === "warn" || value === "fail" || value === "register"
      ? []
      : ['ifExists must be "warn", "fail" or "register"'],
};
const REQUIRED = ["url", "type"];

/**
 * Validates a program's arguments before anything is sent, and returns every problem at once. No problem repeats a url
 * beyond its host, an ip or an id, and none names its property to the engine, which would print the value (engine rule 20).
 */
export function checkArguments(args: Readonly<Record<string, unknown>>) {
  const missing = REQUIRED.filter((name) => args[name] === undefined || args[name] === null);
  const problems = missing.map((name) => `${name} is missing`);
  const given = Object.entries(args).filter(([name, value]) => {
    return name !== "__provider" && value !== undefined && value !== null && value !== UNKNOWN_VALUE;
  });
  problems.push(
    ...unknownOptions(Object.fromEntries(given), Object.keys(PROBLEMS), "an argument of an endpoint"),
  );
  for (const [name, value] of given)
    if (Object.hasOwn(PROBLEMS, name)) problems.push(...(PROBLEMS[name]?.(value) ?? []));
  return { problems, warnings: unreachableWarnings(args) };
}

function urlProblems(value: unknown): string[] {
  if (typeof value !== "string" || value === "") return ["url must be a non-empty string"];
  const problems: string[] = [];
  // It is sent as written. What our parser would repair silently, a service may read differently.
  if (/[\s\p{Cc}\\]/u.test(value))
    problems.push("url must not contain white space, control characters or backslashes");
  if (!isHttpUrl(value)) {
    problems.push('url must be an absolute URL that begins with "https://" or "http://" and names a host');
    return problems;
  }
  const { username, password } = new URL(value);
  if (username !== "" || password !== "" || /^[^/?#]*\/\/[^/?#]*@/.test(value))
    problems.push("url must not contain a user name or password; the service signs its deliveries instead");
  if (value.includes("#"))
    problems.push("url must not contain a fragment (#…), which is never sent to a server");
  return problems;
}

function unreachableWarnings({ url: written, type }: Readonly<Record<string, unknown>>): string[] {
  if (type !== "production" || typeof written !== "string" || !isUrl(written)) return [];
  const url = new URL(written);
  const endpoint = `the production endpoint ${describeUrl(written)}`;
  return [
    isUnreachableHost(url) &&
      `${endpoint} has a loopback or private host: the service cannot reach it from the internet`,
    url.protocol === "http:" &&
      `${endpoint} uses plain http: anyone on the network path can read its deliveries. Use https`,
  ].filter((warning) => warning !== false);
}

function adoptIdProblems(value: unknown): string[] {
  if (
    typeof value !== "string" ||
    value === "" ||
    /[\s\p{Cc}]/u.test(value) ||
    value === "." ||
    value === ".."
  )
    return ["adoptId must be the id of an endpoint at the service: a string without white space"];
  return isProvisional(value)
    ? ["adoptId must be an id that the service issued, not the provisional id of a registration"]
    : [];
}

/** Returns the arguments that differ, none of which the service can change in place. */
export function changedArguments(olds: EndpointState, news: EndpointInputs): string[] {
  return (["url", "type", "ip"] as const).filter(
    (name) => (olds[name] ?? undefined) !== (news[name] ?? undefined),
  );
}
