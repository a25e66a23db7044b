import { outcomeAnswer } from "../answers";
import type { ReceiverResponse } from "../types";

/** Returns the answer, or 500 if there is none because a part of the receiver threw, such as its clock. Never rejects. */
export async function guarded(
  adapter: string,
  answering: Promise<ReceiverResponse>,
): Promise<ReceiverResponse> {
  try {
    return await answering;
  } catch (error) {
    console.error(`${adapter}: the receiver failed, so the request was answered 500.`, error);
    return outcomeAnswer("failed");
  }
}
