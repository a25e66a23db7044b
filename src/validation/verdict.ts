import { isRefusal, isSuccess } from "../shared/isSuccess";
import { describeUrl } from "../shared/url";

/** What came back: a status, or why there is none. */
export interface Answer {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** Where a redirect points to, absolute. */
  readonly location?: string;
  /** Why there was no answer, such as `ENOTFOUND`. */
  readonly failure: string | null;
}

/** What a receiver answered to a genuine delivery and to the same with a broken signature. */
export interface Answers {
  readonly genuine: Answer;
  readonly broken: Answer;
}

/** Why a receiver is not validated. Stable. See the table of errors in the documentation. */
export type ValidationErrorCode =
  | "BROKEN_ACCEPTED"
  | "GENUINE_REFUSED"
  | "RECEIVER_NOT_READY"
  | "RECEIVER_REDIRECTED"
  | "RECEIVER_UNREACHABLE";

/** Returns whether a later attempt may succeed: a new release may still be on its way. */
export function canPass(code: ValidationErrorCode): boolean {
  return code !== "BROKEN_ACCEPTED" && code !== "RECEIVER_REDIRECTED";
}

/** Returns whether the code shows that the receiver does not work. Otherwise it could only not be asked. */
export function isRefuting(code: ValidationErrorCode): boolean {
  return code === "BROKEN_ACCEPTED" || code === "GENUINE_REFUSED";
}

/** Judges a pair of answers. Null means: the genuine delivery was accepted and the broken one refused. */
export function judge({ genuine, broken }: Answers): ValidationErrorCode | null {
  if (isSuccess(broken.status)) return "BROKEN_ACCEPTED";
  if (genuine.status === null) return "RECEIVER_UNREACHABLE";
  if (isRedirect(genuine) || isRedirect(broken)) return "RECEIVER_REDIRECTED";
  if (isRefusal(genuine.status)) return "GENUINE_REFUSED";
  // A broken delivery that is answered 404 was refused, like any 4xx. A genuine one met a route that is not there yet.
  const isBrokenRefused = isRefusal(broken.status) || isNoRoute(broken);
  return isSuccess(genuine.status) && isBrokenRefused ? null : "RECEIVER_NOT_READY";
}

/** Returns whether nothing takes deliveries at the path. A web server answers 405 where it has a page or a file. */
function isNoRoute({ status }: Answer): boolean {
  return status === 404 || status === 405;
}

function isRedirect({ status }: Answer): boolean {
  return status !== null && status >= 300 && status < 400;
}

interface Explained extends Answers {
  readonly code: ValidationErrorCode;
  readonly url: string;
  /** Which secret signed, such as `secret 2 of 3`. */
  readonly secret: string;
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
    case "GENUINE_REFUSED":
      return (
        `${receiver} refused a genuine delivery signed with ${secret} (status ${genuine.status}): it has another secret or a wrong ` +
        "clock, or a body parser changes the body before it is verified. Give it this secret, and verify the raw bytes. If something " +
        "in front of it refuses the delivery, such as a login, a firewall or protection against CSRF, let POST requests to this url through"
      );
    case "RECEIVER_NOT_READY":
      return `${receiver} is not ready: a genuine delivery got ${told(genuine)}, and a broken one ${told(broken)}. ${adviceFor({ genuine, broken })}`;
    case "RECEIVER_REDIRECTED":
      return (
        `${receiver} redirects deliveries to ${describeUrl(genuine.location ?? broken.location ?? "")}, and redirects are not followed. ` +
        "Use the url that it redirects to, and check its scheme, host and trailing slash"
      );
    case "RECEIVER_UNREACHABLE":
      return `${receiver} did not answer a genuine delivery (${genuine.failure}), and a broken one got ${told(broken)}. ${
        broken.status === null
          ? "Check the host name, its certificate (NODE_EXTRA_CA_CERTS for a self-signed one), that it listens, that this machine can reach " +
            "it, and HTTPS_PROXY and NO_PROXY if they are set"
          : "Check in the receiver's log what it does after it has verified a delivery"
      }`;
  }
}

function told({ status, failure }: Answer): string {
  return status === null ? `no answer (${failure})` : `status ${status}`;
}

/** Returns what to check if a receiver is not ready. */
function adviceFor({ genuine, broken }: Answers): string {
  if (isNoRoute(genuine))
    return "Nothing takes a POST at this path yet: check the url's path, and that the release is complete";
  if (!isSuccess(genuine.status))
    return "It failed, is still starting, limits requests, or its framework parses the body first: check its log";
  if (broken.status === null)
    return "Probably a firewall drops the broken one, so it is not shown that the receiver verifies signatures: let both through";
  return "Probably it throws where a signature does not match: answer such a delivery with a 4xx, such as 401";
}
