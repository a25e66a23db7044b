import { isIP } from "node:net";
import { describeUrl, isPrivateHost } from "./url";

/**
 * What a program's arguments are held against before anything is sent: every problem at once.
 *
 * The text stands for a value that is not known yet (engine rule 6). No reason repeats a url (beyond its host), an ip or an id, and
 * no failure names a property, because the engine would print its value, which may be a secret (engine rule 20).
 */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export interface Findings {
  readonly problems: string[];
  readonly warnings: string[];
}

type Check = (value: unknown, findings: Findings) => void;

const checks: Record<string, Check> = {
  url: checkUrl,
  type: checkType,
  ip: checkIp,
  adoptId: checkAdoptId,
  ifExists: checkIfExists,
};
const required = ["url", "type"];

export function checkArguments(args: Readonly<Record<string, unknown>>): Findings {
  const findings: Findings = { problems: [], warnings: [] };
  for (const name of required) {
    if (args[name] === undefined || args[name] === null) findings.problems.push(`${name} is missing`);
  }
  for (const [name, value] of Object.entries(args)) {
    if (name === "__provider" || value === undefined || value === null || value === unknownValue) continue;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check) check(value, findings);
    else
      findings.problems.push(
        `${name} is no argument of an endpoint; it takes ${Object.keys(checks).join(", ")}`,
      );
  }
  if (args.type === "production" && typeof args.url === "string" && URL.canParse(args.url)) {
    warnOfUnreachable(new URL(args.url), findings);
  }
  return findings;
}

function checkUrl(value: unknown, { problems }: Findings): void {
  if (typeof value !== "string" || value === "") {
    problems.push("url must be a text that is not empty");
    return;
  }
  // It is sent as written, and what a parser would silently repair a service may take otherwise.
  if (/[\s\p{Cc}\\]/u.test(value))
    problems.push("url must not contain white space, control characters or backslashes");
  if (!/^https?:\/\/[^/?#]/i.test(value) || !URL.canParse(value)) {
    problems.push('url must be an absolute URL that begins with "https://" or "http://" and names a host');
    return;
  }
  const url = new URL(value);
  if (url.username !== "" || url.password !== "" || /^[^/?#]*\/\/[^/?#]*@/.test(value)) {
    problems.push("url must not contain a user name or password; the service signs its deliveries instead");
  }
  if (value.includes("#"))
    problems.push("url must not contain a fragment (#…), which is never sent to a server");
}

function warnOfUnreachable(url: URL, { warnings }: Findings): void {
  // The engine shows a warning without the resource that it is about.
  const endpoint = `the production endpoint ${describeUrl(url.href)}`;
  if (isPrivateHost(url)) {
    warnings.push(
      `${endpoint} has a loopback or private host: the service cannot reach it from the internet`,
    );
  }
  if (url.protocol === "http:") {
    warnings.push(`${endpoint} has plain http: everybody on the way can read its deliveries; use https`);
  }
}

function checkType(value: unknown, { problems }: Findings): void {
  if (value !== "production" && value !== "development")
    problems.push('type must be "production" or "development"');
}

function checkIp(value: unknown, { problems }: Findings): void {
  if (typeof value === "string") {
    const [address = "", prefix, ...rest] = value.split("/");
    const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const prefixFits = prefix === undefined || (/^(0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= bits);
    if (bits > 0 && !address.includes("%") && prefixFits && rest.length === 0) return;
  }
  problems.push(
    'ip must be an IPv4 or IPv6 address or a CIDR range, such as "203.0.113.7" or "2001:db8::/32"',
  );
}

function checkAdoptId(value: unknown, { problems }: Findings): void {
  if (
    typeof value !== "string" ||
    value === "" ||
    /[\s\p{Cc}]/u.test(value) ||
    value === "." ||
    value === ".."
  ) {
    problems.push("adoptId must be the id of an endpoint at the service: a text without white space");
  } else if (value.startsWith("pending:")) {
    problems.push(
      "adoptId must be an id that the service gave, not the provisional one of a pending registration",
    );
  }
}

function checkIfExists(value: unknown, { problems }: Findings): void {
  if (value !== "warn" && value !== "fail") problems.push('ifExists must be "warn" or "fail"');
}
