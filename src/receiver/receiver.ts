import { check } from "../signature/check";
import { claimedId } from "../signature/headers";
import type { VerificationResult } from "../signature/result";
import { outcomeAnswer, readBefore, refusalAnswer } from "./answers";
import { VerifiedDelivery } from "./delivery";
import { dedupeKeyOf, readEvent, VALIDATION_EVENT } from "./event";
import { keySource } from "./keys";
import { lookalikeWarner } from "./lookalike";
import type { QueueReceiverOptions, ReceiverOptions } from "./options";
import type { Processed, Task } from "./process";
import { logFailure, logSecretsError, logUnrecorded, notify, rejectionWarning, warnerOnce } from "./reports";
import { resolveOptions } from "./resolve";
import type {
  NoEvents,
  Receiver,
  ReceiverRequest,
  ReceiverResponse,
  Refusal,
  Rejection,
  Secrets,
} from "./types";
import { validatedIds } from "./validated";

function jobAsKey(what: string): string {
  return (
    `${what} the job's id, which all events of a job share: only the first that has a handler is handled, and the others ` +
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code to copy.
    "are ignored as its duplicates. Let dedupeKey return `${event}:${jobId}`. You see this warning once."
  );
}

const PARSED_BODY_ADVICE = readBefore(
  "The webhook receiver",
  "Give it the raw bytes: mount it before any body parser.",
);

/** The outcome of a `webhook.validation`: no handler and no store is called. */
const VALIDATED: Processed = { outcome: "validation" };

/**
 * Creates a receiver, which verifies each webhook delivery, calls one handler once for it, and answers so that the sender does the
 * right thing. It is the core of each adapter, such as `nodeHandler(receiver)`.
 *
 * ```ts
 * const receiver = createReceiver({
 *   secrets: process.env.WEBHOOK_SECRET ?? "",
 *   handlers: {
 *     "job.succeeded": async (delivery) => markDone(delivery.jobId, { signal: delivery.signal }),
 *     "job.failed": async (delivery) => alert(delivery.jobId, delivery.data),
 *   },
 *   onRejected: ({ reason, status }) => logger.warn({ reason, status }, "webhook refused"),
 *   onOutcome: ({ id, outcome, durationMs, error }) => logger.info({ id, outcome, durationMs, error }, "webhook"),
 * });
 * http.createServer(nodeHandler(receiver)).listen(8080);
 * ```
 *
 * | answer | when |
 * | --- | --- |
 * | 200 | handled (without a body), handled before, an event that nobody handles, or a `webhook.validation` |
 * | 400 | the connection ended in the middle of the body |
 * | 401 | not verified; `onRejected` gets the reason, the sender does not |
 * | 405, 408, 413 | not a POST; a body that came too slowly; a body that is too large |
 * | 500 | the handler failed: a retry is handled again. Or the program parsed the body first |
 * | 503 with Retry-After | another worker has the delivery, the handler passed its deadline, or the dedupe store, the secrets or the clock failed |
 *
 * Deliveries come at least once and in any order. For long work, use a queue: a handler that only enqueues is done when the queue
 * has taken the delivery, which is then the queue's to retry.
 *
 * ```ts
 * "job.succeeded": (delivery) => queue.add("succeeded", { jobId: delivery.jobId }, { jobId: delivery.id }),
 * ```
 *
 * @throws WebhookSecretError if a secret given as a value is malformed or there is none; the message does not repeat it
 * @throws RangeError for a number out of its range, such as a tolerance above 86,400 seconds
 * @throws TypeError for handlers that are not functions by event, such as a Map, a generator, or an event that the service does
 *   not send
 */
export function createReceiver<Events extends object = NoEvents>(
  options: ReceiverOptions<Events> | QueueReceiverOptions,
): Receiver {
  return startedReceiver(options);
}

/** @param initial the secrets at start-up, if `options.secrets` is a function: in use until its first answer */
export function startedReceiver<Events extends object>(
  options: ReceiverOptions<Events> | QueueReceiverOptions,
  initial?: Secrets,
): Receiver {
  const { toleranceSeconds, maxBodyBytes, now, dedupeKey, take, isKnown } = resolveOptions(options);
  const warn = warnerOnce();
  const warnOfLookalike = lookalikeWarner(warn);
  const warnOfRejection = (rejection: Rejection) =>
    // Advice is a warning of its own.
    rejection.advice === undefined && warn(rejectionWarning(rejection));
  const {
    onRejected = warnOfRejection,
    onOutcome = logFailure,
    onSecretsError = logSecretsError,
    onUnrecorded = logUnrecorded,
  } = options;
  const onError = (error: unknown) => notify(onSecretsError, error);
  const validated = validatedIds();
  const source = keySource(options.secrets, { now, initial, onError });

  function reject(rejection: Rejection, answer: ReceiverResponse): ReceiverResponse {
    if (rejection.advice !== undefined) warn(rejection.advice);
    notify(onRejected, rejection);
    return answer;
  }

  async function refuse(reason: Refusal, advice = reason === "parsed-body" ? PARSED_BODY_ADVICE : undefined) {
    const answer = refusalAnswer(reason);
    const { status } = answer;
    return reject(advice === undefined ? { reason, status } : { reason, status, advice }, answer);
  }

  function refuseUnverified(reason: Rejection["reason"], { headers }: ReceiverRequest): ReceiverResponse {
    const ownFault = reason === "no-secrets" || reason === "invalid-clock";
    const answer = refusalAnswer(ownFault ? "not-ready" : "unverified");
    const { status } = answer;
    const unverifiedId = claimedId(headers);
    if (unverifiedId === undefined) return reject({ reason, status }, answer);
    if (reason === "signature-mismatch" && validated.expectsBroken(unverifiedId)) return answer;
    return reject({ reason, status, unverifiedId }, answer);
  }

  function verifyWith(keys: readonly Uint8Array[], { body, headers }: ReceiverRequest): VerificationResult {
    return check({ rawBody: body, headers, keys, toleranceSeconds, now: now() });
  }

  /** Verifies with the current secrets, if they have changed since the mismatch. */
  async function verifyAgain(
    mismatch: VerificationResult,
    keys: readonly Uint8Array[],
    request: ReceiverRequest,
  ): Promise<VerificationResult> {
    const newer = await source.afterMismatch();
    return newer === undefined || newer === keys ? mismatch : verifyWith(newer, request);
  }

  async function takeKeyed(
    delivery: VerifiedDelivery,
    onUnrecorded: Task["onUnrecorded"],
  ): Promise<Processed> {
    let key: string;
    try {
      key = dedupeKeyOf(delivery, dedupeKey);
    } catch (error) {
      return { outcome: "failed", error };
    }
    if (key === delivery.jobId)
      warn(jobAsKey(dedupeKey ? "dedupeKey returns" : "The service's webhook-id is"));
    return take(delivery, { key, onUnrecorded });
  }

  async function handle(request: ReceiverRequest): Promise<ReceiverResponse> {
    if (request.method !== "POST") return refuse("method");
    if (!ArrayBuffer.isView(request.body)) return refuse("parsed-body");
    if (request.body.byteLength > maxBodyBytes) return refuse("size");
    const keys = await source.current();
    if (keys === undefined) return refuseUnverified("no-secrets", request);
    let verified = verifyWith(keys, request);
    if (!verified.ok && verified.reason === "signature-mismatch")
      verified = await verifyAgain(verified, keys, request);
    if (!verified.ok) return refuseUnverified(verified.reason, request);

    const startedAt = performance.now();
    const { id, timestamp } = verified;
    const { event, jobId, data, message } = readEvent(request.body);
    if (!isKnown(event)) warnOfLookalike(message);
    const delivery = new VerifiedDelivery({ id, timestamp, rawBody: request.body, event, jobId, data });
    const unrecorded = (last: unknown) => notify(onUnrecorded, { id, timestamp, event, jobId, error: last });
    if (event === VALIDATION_EVENT) validated.add(id);
    const { outcome, error, retryAfterMs } =
      event === VALIDATION_EVENT ? VALIDATED : await takeKeyed(delivery, unrecorded);
    const answer = outcomeAnswer(outcome, retryAfterMs);
    const { status } = answer;
    const durationMs = Math.round(performance.now() - startedAt);
    const report = { outcome, status, id, timestamp, event, jobId, durationMs };
    notify(onOutcome, error === undefined ? report : { ...report, error });
    return answer;
  }

  return { maxBodyBytes, handle, refuse };
}
