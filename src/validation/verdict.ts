import { isSuccess } from "../shared/isSuccess";
import { describeUrl } from "../shared/url";

/** What came back: a status, or why there is none. */
export interface Answer {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** Where a redirect points to, absolute. */
  readonly location?: string;
  /** Whether it asks for a login (`WWW-Authenticate`), as a proxy does and a receiver does not. */
  readonly asksForLogin?: boolean;
  /** The system's or TLS's code, such as `ENOTFOUND`, when there was no answer. */
  readonly failure?: string;
}

/** Why a receiver is not validated. Stable. See the table of errors in the documentation. */
export type ValidationErrorCode =
  | "BROKEN_ACCEPTED"
  | "BROKEN_UNANSWERED"
  | "GENUINE_REFUSED"
  | "RECEIVER_BLOCKED"
  | "RECEIVER_NOT_READY"
  | "RECEIVER_REDIRECTED"
  | "RECEIVER_UNREACHABLE";

/** What a receiver answered to a genuine delivery and to the same with a broken signature. */
export interface Answers {
  readonly genuine: Answer;
  readonly broken: Answer;
}

/** Codes that waiting does not change. */
const FINAL: ReadonlySet<ValidationErrorCode> = new Set(["BROKEN_ACCEPTED", "RECEIVER_REDIRECTED"]);

/** Codes that show what the receiver does with deliveries. */
const REFUTING: ReadonlySet<ValidationErrorCode> = new Set([
  "BROKEN_ACCEPTED",
  "GENUINE_REFUSED",
  "RECEIVER_BLOCKED",
]);

/** Returns whether a later attempt may succeed: a new release may still be on its way. */
export function canPass(code: ValidationErrorCode): boolean {
  return !FINAL.has(code);
}

/** Returns whether the code shows that the receiver does not work. Otherwise it could only not be asked. */
export function isRefuting(code: ValidationErrorCode): boolean {
  return REFUTING.has(code);
}

export function isAccepted({ status }: Answer): boolean {
  return isSuccess(status);
}

/** Judges a pair of answers. Null means: the genuine delivery was accepted and the broken one refused. */
export function judge({ genuine, broken }: Answers): ValidationErrorCode | null {
  if (isAccepted(broken)) return "BROKEN_ACCEPTED";
  if (genuine.status === null) return "RECEIVER_UNREACHABLE";
  const both = [genuine.status, broken.status].filter((status) => status !== null);
  if (both.some((status) => isWithin(status, 300))) return "RECEIVER_REDIRECTED";
  // A broken delivery that is answered 404 or 405 was refused, like any 4xx. A genuine one met a route that is not there yet.
  if (isNoRoute(genuine) || both.some(saysNothing)) return "RECEIVER_NOT_READY";
  // To a delivery that it has not verified, a receiver answers 401, or 400.
  const isBlocked = ![400, 401].includes(genuine.status) || genuine.asksForLogin;
  if (isWithin(genuine.status, 400))
    return genuine.status === broken.status && isBlocked ? "RECEIVER_BLOCKED" : "GENUINE_REFUSED";
  return broken.status === null ? "BROKEN_UNANSWERED" : null;
}

/** Returns whether nothing takes deliveries at the path. A web server answers 405 where it has a page or a file. */
export function isNoRoute({ status }: Answer): boolean {
  return status === 404 || status === 405;
}

/** Returns whether a status is about the server and not about the delivery. */
function saysNothing(status: number): boolean {
  return status === 408 || status === 429 || !(isSuccess(status) || isWithin(status, 400));
}

function isWithin(status: number, hundred: number): boolean {
  return status >= hundred && status < hundred + 100;
}

interface Explained extends Answers {
  readonly code: ValidationErrorCode;
  readonly url: string;
  /** Which secret signed, such as `secret 2 of 3`. */
  readonly secret: string;
}

/** Returns what to check if there was no answer. */
export function whatToReach(env = process.env): string {
  const isProxied = ["http_proxy", "https_proxy"].some((name) => env[name] || env[name.toUpperCase()]);
  const proxy = isProxied ? ", and HTTP_PROXY, HTTPS_PROXY and NO_PROXY in the environment" : "";
  return `Check the host name, its certificate, that it listens, and that this machine can reach it${proxy}`;
}

/** Says what failed, the likely cause and what to do. Shows only the origin of the url: the rest may hold a token. */
export function reasonOf({ code, url, secret, genuine, broken }: Explained): string {
  const receiver = `the receiver at ${describeUrl(url)}`;
  switch (code) {
    case "BROKEN_ACCEPTED":
      return (
        `${receiver} accepted a delivery with a broken signature (status ${broken.status}): it does not verify signatures, ` +
        "so anyone can send it events. Verify each delivery before you answer 2xx"
      );
    case "BROKEN_UNANSWERED":
      return (
        `${receiver} accepted a genuine delivery (status ${genuine.status}), but a delivery with a broken signature got no ` +
        `response (${broken.failure}). Probably a firewall in front of the receiver drops it, or the receiver is too slow for both, so the validation cannot show ` +
        "whether the receiver verifies signatures. Let both deliveries through to the receiver"
      );
    case "GENUINE_REFUSED":
      return (
        `${receiver} refused a genuine delivery signed with ${secret} (status ${genuine.status}): it has another secret, or a ` +
        "body parser changes the body before it is verified. Give it this secret, verify the raw bytes, and check its clock. If it is " +
        "not the receiver that responds, something in front of it refuses the delivery, such as a login"
      );
    case "RECEIVER_BLOCKED":
      return (
        `${receiver} answered ${genuine.status} to a genuine and to a broken delivery: probably ${genuine.asksForLogin ? "something in front of it asks for a login" : "something refuses both before the signature is verified, such as a proxy, a firewall, or the framework's protection against CSRF"}. ` +
        `Let POST requests to this url through. If the receiver itself answers ${genuine.status}, check its secret`
      );
    case "RECEIVER_NOT_READY":
      return (
        `${receiver} is not ready: it answered ${genuine.status} to a genuine delivery and ` +
        `${broken.status === null ? "did not answer" : `${broken.status} to`} a broken one. ` +
        (isAccepted(genuine) && isWithin(broken.status ?? 0, 500)
          ? "Probably it throws where a signature does not match: answer such a delivery with a 4xx, such as 401"
          : // The answer that is about the server.
            adviceFor((genuine.status ?? 0) >= 400 ? genuine : broken))
      );
    case "RECEIVER_REDIRECTED":
      return (
        `${receiver} redirects deliveries${target(genuine.location ?? broken.location, url)}, and redirects are not followed. ` +
        "Use the url that it redirects to, and check its scheme, host and trailing slash"
      );
    case "RECEIVER_UNREACHABLE":
      if (broken.status !== null)
        return (
          `${receiver} did not answer a genuine delivery (${genuine.failure}), but answered ${broken.status} to a broken one. ` +
          "Check in the receiver's log what it does after it has verified a delivery"
        );
      return `${receiver} did not answer (${genuine.failure}). ${whatToReach()}`;
  }
}

function adviceFor({ status }: Answer): string {
  if (status === 404)
    return "Nothing answers at this path yet: check the url's path, and that the release is complete";
  if (status === 405)
    return "Nothing takes a POST at this path: check the url's path, and that the release is complete";
  if (status === 429 || status === 408) return "It is overloaded or limits its requests: run again later";
  return "It failed, is still starting, or its framework parses the body before the receiver can read it: check its log";
}

function target(location: string | undefined, url: string): string {
  if (location === undefined) return "";
  const { origin } = new URL(location);
  return origin === new URL(url).origin
    ? " to another path"
    : ` to ${origin === "null" ? "elsewhere" : origin}`;
}
