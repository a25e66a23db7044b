import type { HeadersLike } from "../../signature/headers";
import { REFUSALS, reasonToRefuse, responseTo } from "../responses";
import type { LazyReceiver, Receiver, ReceiverResponse, Refusal } from "../types";
import { receiverGetter } from "./lazyReceiver";

/** A request of any platform. */
export interface Sent {
  readonly method: string | undefined;
  readonly headers: HeadersLike;
  /** How large the body is, as the headers say. NaN if they don't. */
  readonly bytes: number;
  /**
   * Reads the whole body as it was sent, or returns the reason why it is not available.
   * @throws what the platform reports when the body breaks off
   */
  readonly read: () => Uint8Array | Refusal | Promise<Uint8Array | Refusal>;
}

/**
 * Returns a function that responds to a request of a platform. It never rejects, whatever the request is.
 * @param remedy what to change where something else reads the body first
 * @param look reads what the platform has as its request
 * @throws TypeError for anything but a receiver or a function that creates one: each delivery would get 500
 */
export function responder<Request>(
  adapter: string,
  given: Receiver | LazyReceiver,
  remedy: string,
  look: (request: Request, receiver: Receiver) => Sent,
) {
  const receiverNow = receiverGetter(adapter, given);
  const advice = `${adapter}: something read the request body before its signature could be verified. ${remedy}`;

  return async (request: Request): Promise<ReceiverResponse> => {
    try {
      const found = receiverNow();
      // Awaited only once: each await costs every delivery.
      const receiver = found instanceof Promise ? await found : found;
      if (receiver === undefined) return REFUSALS["not-ready"];
      const { method, headers, bytes, read } = look(request, receiver);
      const refusal = reasonToRefuse(method, bytes, receiver.maxBodyBytes);
      if (refusal !== undefined) return await receiver.refuse(refusal);
      let body: Uint8Array | Refusal;
      try {
        body = await read();
      } catch (error) {
        return await receiver.refuse("incomplete-body", { error });
      }
      if (typeof body !== "string") return await receiver.handle({ method: "POST", headers, body });
      return await receiver.refuse(body, body === "parsed-body" ? { advice } : {});
    } catch (error) {
      console.error(`${adapter}: the receiver failed, so the response is 500.`, error);
      return responseTo("failed");
    }
  };
}
