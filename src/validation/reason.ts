import type { Answer, Answers, ValidationErrorCode } from "./verdict";

export interface Explained extends Answers {
  readonly code: ValidationErrorCode;
  readonly url: string;
  /** Which secret signed, such as `secret 2 of 3`. */
  readonly secret: string;
}

/** What to check if there was no answer. */
export const REACHABLE =
  "Check the host name, its certificate, that it listens, and that this machine can reach it";

/** Says what failed, the likely cause and what to do. Shows only the origin of the url: the rest may hold a token. */
export function reasonOf({ code, url, secret, genuine, broken }: Explained): string {
  const receiver = `the receiver at ${new URL(url).origin}/…`;
  switch (code) {
    case "BROKEN_ACCEPTED":
      return (
        `${receiver} accepted a delivery with a broken signature (status ${broken.status}): it does not verify signatures, ` +
        "so anyone can send it events. Verify each delivery before you answer 2xx"
      );
    case "BROKEN_UNANSWERED":
      return (
        `${receiver} accepted a genuine delivery (status ${genuine.status}), but a delivery with a broken signature got no ` +
        `response (${broken.failure}). Probably a firewall in front of the receiver drops it, so the validation cannot show ` +
        "whether the receiver verifies signatures. Let both deliveries through to the receiver"
      );
    case "GENUINE_REFUSED":
      return (
        `${receiver} refused a genuine delivery signed with ${secret} (status ${genuine.status}): it has another secret, or a ` +
        "body parser changes the body before it is verified. Give it this secret, verify the raw bytes, and check its clock"
      );
    case "RECEIVER_BLOCKED":
      return (
        `${receiver} answered 403 to a genuine and to a broken delivery: probably a proxy or firewall in front of it refuses ` +
        "both. Let POST requests to this url through. If the receiver itself answers 403, check its secret"
      );
    case "RECEIVER_NOT_READY":
      return (
        `${receiver} is not ready: it answered ${genuine.status} to a genuine delivery and ` +
        `${broken.status === null ? "did not answer" : `${broken.status} to`} a broken one. ` +
        adviceFor(genuine.status === 404 ? genuine : failing({ genuine, broken }))
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
      return `${receiver} did not answer (${genuine.failure}). ${REACHABLE}`;
  }
}

/** The answer that is about the server. */
function failing({ genuine, broken }: Answers): Answer {
  return (genuine.status ?? 0) >= 400 ? genuine : broken;
}

function adviceFor({ status }: Answer): string {
  if (status === 404)
    return "Nothing answers at this path yet: check the url's path, and that the release is complete";
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
