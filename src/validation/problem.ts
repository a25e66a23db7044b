import type { DeliveryResponse } from "../shared/post";
import { isRefusal, isSuccess } from "../shared/status";
import { describeUrl, isUrl } from "../shared/url";

type Response = Pick<DeliveryResponse, "status" | "headers" | "failure">;

/** The responses of a receiver to a genuine delivery and to one with a broken signature. */
interface Responses {
  readonly url: string;
  /** Which secret signed, such as `the secret 3f1c0a9b2d4e`: its fingerprint. */
  readonly secret: string;
  readonly genuine: Response;
  readonly broken: Response;
}

/** Why a receiver is not validated. Stable. See the table of errors in the documentation. */
export type ValidationErrorCode =
  | "BROKEN_ACCEPTED"
  | "GENUINE_REFUSED"
  | "RECEIVER_NOT_READY"
  | "RECEIVER_REDIRECTED"
  | "RECEIVER_UNREACHABLE";

export interface Problem {
  readonly code: ValidationErrorCode;
  /** What failed, the likely cause and what to do. Shows only the origin of the url: the rest may hold a token. */
  readonly reason: string;
}

/** Returns whether a later attempt may succeed: a new release may still be on its way. */
export function isTemporary(code: ValidationErrorCode): boolean {
  return code !== "BROKEN_ACCEPTED" && code !== "RECEIVER_REDIRECTED";
}

/** Returns whether the code shows that the receiver does not work. Otherwise it could only not be asked. */
export function isRefuting(code: ValidationErrorCode): boolean {
  return code === "BROKEN_ACCEPTED" || code === "GENUINE_REFUSED";
}

/** Returns what a pair of responses shows to be wrong. Null: the genuine delivery was accepted and the broken one refused. */
export function problemOf({ url, secret, genuine, broken }: Responses): Problem | null {
  const failed = (code: ValidationErrorCode, what: string): Problem => {
    return { code, reason: `the receiver at ${describeUrl(url)} ${what}` };
  };
  if (isSuccess(broken.status))
    return failed(
      "BROKEN_ACCEPTED",
      `accepted a delivery with a broken signature (status ${broken.status}): it does not verify signatures, so anyone can send it ` +
        "events. Verify each delivery before you respond with 2xx",
    );
  if (genuine.status === null)
    return failed(
      "RECEIVER_UNREACHABLE",
      `did not respond to a genuine delivery (${genuine.failure}), and a broken one got ${told(broken)}. ${
        broken.status === null
          ? "Check the host name, its certificate (NODE_EXTRA_CA_CERTS for a self-signed one), that it listens, that this machine can reach " +
            "it, and HTTPS_PROXY and NO_PROXY if they are set"
          : "Check in the receiver's log what it does after it has verified a delivery"
      }`,
    );
  const redirect = [genuine, broken].find(({ status }) => status !== null && status >= 300 && status < 400);
  if (redirect !== undefined) {
    const location = String(redirect.headers.location);
    const target = isUrl(location, url) ? new URL(location, url).href : "";
    return failed(
      "RECEIVER_REDIRECTED",
      `redirects deliveries to ${describeUrl(target)}, and redirects are not followed. Use the url that it redirects to, and check its ` +
        "scheme, host and trailing slash",
    );
  }
  if (isRefusal(genuine.status))
    return failed(
      "GENUINE_REFUSED",
      `refused a genuine delivery signed with ${secret} (status ${genuine.status}): it has another secret or a wrong clock, or a body ` +
        "parser changes the body before it is verified. Give it this secret, and verify the raw bytes. If something in front of it " +
        "refuses the delivery, such as a login, a firewall or protection against CSRF, let POST requests to this url through",
    );
  // A broken delivery that gets 404 was refused, like any 4xx. A genuine one came to a route that is not there yet.
  if (isSuccess(genuine.status) && (isRefusal(broken.status) || isNoRoute(broken))) return null;
  return failed(
    "RECEIVER_NOT_READY",
    `is not ready: a genuine delivery got ${told(genuine)}, and a broken one ${told(broken)}. ${whatToCheck(genuine, broken)}`,
  );
}

/** Returns whether nothing takes deliveries at the path. A web server responds with 405 where it has a page or a file. */
function isNoRoute({ status }: Response): boolean {
  return status === 404 || status === 405;
}

function told({ status, failure }: Response): string {
  return status === null ? `no response (${failure})` : `status ${status}`;
}

function whatToCheck(genuine: Response, broken: Response): string {
  if (isNoRoute(genuine))
    return "Nothing takes a POST at this path yet: check the url's path, and that the release is complete";
  if (!isSuccess(genuine.status))
    return "It failed, is still starting, limits requests, or its framework parses the body first: check its log";
  if (broken.status === null)
    return "Probably a firewall drops the broken one, so it is not shown that the receiver verifies signatures: let both through";
  return "Probably it throws where a signature does not match: respond to such a delivery with a 4xx, such as 401";
}
