import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { PendingError } from "../provider/errors";
import { CodedError } from "../shared/codedError";
import { messageLine } from "../shared/escape";
import { toEngine } from "./values";

/** Where the engine looks for what an error carries. */
const DETAILS = "grpc-status-details-bin";

/** An error as the engine understands it: its message, and the resource that must stay in the state as half-made (engine rule 8). */
export function rpcError(error: unknown, secretNames: Iterable<string> = []): Partial<ServiceError> {
  // Those with a code are made of lines already. Any other is a bug.
  const given = error instanceof Error ? error.message : String(error);
  const message = error instanceof CodedError ? given : messageLine(given);
  const metadata = new Metadata();
  if (error instanceof PendingError) {
    const detail = new ErrorResourceInitFailed()
      .setId(error.id)
      .setProperties(toEngine({ ...error.properties }, secretNames))
      .setReasonsList([...error.reasons]);
    const any = new Any();
    any.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
    const details = new Status().setCode(status.UNKNOWN).setMessage(message);
    details.addDetails(any);
    metadata.add(DETAILS, Buffer.from(details.serializeBinary()));
  }
  return { code: status.UNKNOWN, details: message, message, metadata };
}
