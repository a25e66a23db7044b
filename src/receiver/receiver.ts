import { isJobEvent, VALIDATION_EVENT } from "../signature/event";
import { claimedId, readSignatureHeaders } from "../signature/headers";
import { DEFAULT_TOLERANCE_SECONDS } from "../signature/verify";
import { memoryDedupe } from "./dedupe/memory";
import { TrackedDelivery } from "./delivery";
import { handlerProcessor, type ProcessingResult } from "./handlerProcessor";
import { notify } from "./hooks";
import { createLog, logFailure, logRejection, ONCE } from "./log";
import { checkNumber } from "./optionChecks";
import type { Handling, QueueReceiverOptions, ReceiverOptions } from "./options";
import { queueProcessor } from "./queues/queueProcessor";
import { REFUSALS, reasonToRefuse, responseTo } from "./responses";
import type {
  Delivery,
  KeyedDelivery,
  NoEvents,
  Receiver,
  ReceiverRequest,
  ReceiverResponse,
  Refusal,
  Rejection,
  Secrets,
} from "./types";
import { deliveryVerifier } from "./verifier";

const DEFAULT_BODY_BYTES = 1024 * 1024;
const JOB_AS_KEY =
  "Deliveries are identified by the job's id, so only the first event of each job is handled. " +
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code to copy.
  "Let dedupeKey return `${event}:${jobId}`.";

/**
 * Creates a receiver, which verifies each webhook delivery, calls one handler once for it, and responds so that the sender does the
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
 * });
 * http.createServer(nodeHandler(receiver)).listen(8080);
 * ```
 *
 * Deliveries come at least once and in any order. `OutcomeKind` and `Rejection` list the responses.
 *
 * @throws WebhookSecretError if a secret given as a value is malformed or there is none; the message does not repeat it
 * @throws RangeError for a number out of its range, such as a tolerance above 86,400 seconds
 * @throws TypeError for an unknown option, a handler that is not a function, an event that the service does not send, or no handler at all
 */
export function createReceiver<Events extends object = NoEvents>(
  options: ReceiverOptions<Events> | QueueReceiverOptions,
): Receiver {
  return startedReceiver(options);
}

/** @param initial the secrets at start-up, if `options.secrets` is a function: in use until its first result */
export function startedReceiver<Events extends object>(
  options: ReceiverOptions<Events> | QueueReceiverOptions,
  initial?: Secrets,
): Receiver {
  const log = createLog();
  const {
    secrets,
    queue,
    toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
    maxBodyBytes = Math.min(DEFAULT_BODY_BYTES, queue?.maxBodyBytes ?? DEFAULT_BODY_BYTES),
    dedupeKey,
    now = Date.now,
    onRejected = (rejection: Rejection) => logRejection(rejection, log),
    onOutcome = logFailure,
    onSecretsError = (error: unknown) =>
      log("secrets", "The webhook secrets could not be read. The last good ones, if any, stay in use.", {
        details: [error],
      }),
    ...others
  } = options;
  const handling: Handling<Events> = others;
  checkNumber("maxBodyBytes", maxBodyBytes, { least: 0, most: queue?.maxBodyBytes });
  const processor =
    queue === undefined
      ? handlerProcessor({ ...handling, dedupe: handling.dedupe ?? memoryDedupe() }, log)
      : queueProcessor(queue, handling, log);
  const onError = (error: unknown) => notify(onSecretsError, error);
  const verify = deliveryVerifier(secrets, { toleranceSeconds, now, initial, onError });

  function reject(response: ReceiverResponse, rejection: Omit<Rejection, "status">): ReceiverResponse {
    // Also beside a hook: a program that reads bodies first refuses every delivery.
    if (rejection.advice !== undefined) log("advice", rejection.advice);
    notify(onRejected, { ...rejection, status: response.status });
    return response;
  }

  /** @throws TypeError, or what `dedupeKey` throws */
  function keyOf(delivery: Delivery): string {
    const key = dedupeKey && isKeyed(delivery) ? dedupeKey(delivery) : delivery.id;
    if (typeof key !== "string" || key === "")
      throw new TypeError("dedupeKey must return a non-empty string. If in doubt, return delivery.id.");
    if (key === delivery.jobId) log("job", JOB_AS_KEY, ONCE);
    return key;
  }

  function processDelivery(delivery: TrackedDelivery): ProcessingResult | Promise<ProcessingResult> {
    // It proves the receiver at deploy time: no handler and no store is called.
    if (delivery.event === VALIDATION_EVENT) return { outcome: "validation" };
    try {
      return processor(delivery, keyOf(delivery));
    } catch (error) {
      return { outcome: "failed", error };
    }
  }

  async function refuse(
    reason: Refusal,
    details: Omit<Rejection, "reason" | "status"> = {},
  ): Promise<ReceiverResponse> {
    return reject(REFUSALS[reason], { reason, ...details });
  }

  async function handle({ method, body, headers }: ReceiverRequest): Promise<ReceiverResponse> {
    const refusal = reasonToRefuse(method, Number(body?.byteLength), maxBodyBytes);
    if (refusal !== undefined) return refuse(refusal);
    if (!ArrayBuffer.isView(body)) return refuse("parsed-body");
    const sent = readSignatureHeaders(headers);
    const result = await verify(body, sent);
    if (!result.ok) {
      const { reason } = result;
      const isOwnFault = reason === "no-secrets" || reason === "invalid-clock";
      const response = REFUSALS[isOwnFault ? "not-ready" : "unverified"];
      return reject(response, { reason, unverifiedId: claimedId(sent) });
    }

    const startedAt = performance.now();
    const { id, timestamp } = result;
    const delivery = new TrackedDelivery(id, timestamp, body);
    const { event, jobId } = delivery;
    const { outcome, error, retryAfterMs } = await processDelivery(delivery);
    const response = responseTo(outcome, retryAfterMs);
    const durationMs = Math.round(performance.now() - startedAt);
    notify(onOutcome, { outcome, status: response.status, id, timestamp, event, jobId, durationMs, error });
    return response;
  }

  return { maxBodyBytes, handle, refuse };
}

/** Returns true for the service's own events that have a job id. */
function isKeyed(delivery: Delivery): delivery is KeyedDelivery {
  return isJobEvent(delivery.event) && delivery.jobId !== undefined;
}
