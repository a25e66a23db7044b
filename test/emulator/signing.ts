import { verify } from "../../src/signature";
import type { Received } from "./receiver";

export const A = `whsec_${Buffer.from("a secret of thirty-two bytes: AA").toString("base64")}`;
export const B = `whsec_${Buffer.from("a secret of thirty-two bytes: BB").toString("base64")}`;
/** The body of the event SUCCEEDED. */
export const SUCCEEDED_BODY = { type: "job.succeeded", data: { jobId: "job_1", status: "succeeded" } };
export const SUCCEEDED = { event: "job.succeeded", data: { jobId: "job_1", status: "succeeded" } };

/** Whether what a receiver got verifies with this secret. */
export const verified = ({ body, headers }: Received | undefined = { body: "", headers: {} }, secret = A) =>
  verify(body, headers, secret);
