import { CodedError, KIND } from "../shared/codedError";
import { readEvent, type WebhookEvent } from "./event";
import type { HeadersLike } from "./headers";
import type { RawBody, VerificationFailure } from "./result";
import { verifyDetailed } from "./verify";

/** `unwrap` refused a message. Neither the message nor a property holds a secret, a header or anything of the body. */
export class WebhookVerificationError extends CodedError<"NOT_VERIFIED"> {
  /** @internal */ static readonly [KIND]: string = "WebhookVerificationError";
  /** Always `"WebhookVerificationError"`. */
  override readonly name = "WebhookVerificationError";
  /** Why, as `verifyDetailed` returns it. */
  readonly reason: VerificationFailure;

  constructor(reason: VerificationFailure) {
    super(
      "NOT_VERIFIED",
      `The webhook delivery is not verified: ${reason}. The package's docs/signature-mismatch.md explains what to do`,
    );
    this.reason = reason;
  }
}

/** One of the events that a program declares, so that its name tells the type of its data, or one that names no event. */
export type EventOf<Events extends object> =
  | { [Name in keyof Events]: WebhookEvent<Extract<Name, string>, Events[Name]> }[keyof Events]
  | WebhookEvent<undefined>;

/**
 * Verifies as `verify` does, and returns the event, read as a receiver reads it: for a route that no adapter of `./receiver` fits.
 *
 * ```ts
 * const { id, event, jobId, data } = unwrap(rawBody, request.headers, process.env.WEBHOOK_SECRET ?? "");
 * ```
 *
 * It remembers nothing: a delivery that is sent again has the same `id`. With `unwrap<Events>(…)`, where `Events` has a property for each
 * event, the name of the event tells the type of its data. Nothing checks the data, nor that no other event comes.
 *
 * @throws WebhookVerificationError with the `reason` for which a message is refused
 */
export function unwrap<Events extends object = Record<string, unknown>>(
  rawBody: RawBody,
  headers: HeadersLike,
  secret: string | readonly string[],
  toleranceSeconds?: number,
): EventOf<Events> {
  const result = verifyDetailed(rawBody, headers, secret, toleranceSeconds);
  if (!result.ok) throw new WebhookVerificationError(result.reason);
  const { id, timestamp } = result;
  return { id, timestamp, ...readEvent(rawBody) } as EventOf<Events>;
}
