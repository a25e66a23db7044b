import { REACHABLE } from "../../validation/verdict";
import type { SentDelivery } from "./attempt";

const NONE = { status: null, failure: null };

/**
 * Returns what to do about the first answer that was not as expected.
 *
 * @param fault why the receiver should have refused the delivery, if it should have
 */
export function adviceFor(deliveries: readonly SentDelivery[], fault: string | undefined): string {
  const { status, failure } = deliveries.find(({ asExpected }) => !asExpected) ?? NONE;
  if (failure === "UND_ERR_INVALID_ARG")
    return "Nothing was sent: HTTP does not allow a header of the delivery. Check the headers of the capture.";
  if (status === null) return `The receiver did not answer. ${REACHABLE}.`;
  if (status === 404) return "Nothing answers at this path. Check the path of the url.";
  if (status >= 300 && status < 400)
    return "The receiver redirects deliveries, and a service does not follow redirects. Use the url of the redirect's target.";
  if (fault !== undefined)
    return `The receiver should refuse this delivery with a 4xx other than 404, 405, 408 and 429: it was ${fault}.`;
  if (status === 401)
    return "The receiver refused the delivery. It has another secret, or something changes the body: its log names the reason.";
  return "The receiver did not accept the delivery with 2xx. Its log says why.";
}
