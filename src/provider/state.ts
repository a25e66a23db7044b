import { createHash } from "node:crypto";
import type { Endpoint } from "../client";
import type { AFTER_INPUT, Origin, PendingRegistration, Recognition } from "../shared/permanent";
import { normalizeBaseUrl } from "../shared/url";
import {
  type EndpointArguments,
  type Recordable,
  type RecordedArguments,
  recordedArguments,
} from "./arguments";

/** The inputs as the verbs get them. */
export interface EndpointInputs extends EndpointArguments {
  /** The hidden input of the program's class, as `check` has set it. */
  [AFTER_INPUT]?: number;
}

/** What the stack's state holds. Null, never undefined: the plugin cannot encode undefined (engine rule 25). */
export interface EndpointState extends RecordedArguments, Origin, Recognition {
  createdAt: string | null;
  updatedAt: string | null;
  /** Present on what `.get` reads. */
  external?: true;
  /** Present on a pending resource, whose id begins with `pending:`. */
  pending?: PendingRegistration;
}

/** The state of a pending resource. */
export type PendingState = EndpointState & { readonly pending: PendingRegistration };

/** Returns what the state holds about an endpoint. @param recorded what else it holds: where it was registered, and how to know it again */
export function stateOf(
  { createdAt, updatedAt }: Pick<Endpoint, "createdAt" | "updatedAt">,
  args: Recordable,
  recorded: Origin & Recognition,
): EndpointState {
  return { ...recordedArguments(args), createdAt, updatedAt, ...recorded };
}

/**
 * Returns whether properties come from the state. `.get` and `pulumi import` of an id pass none, and there a missing endpoint is an
 * error (engine rule 7).
 */
export function isRecorded(properties: Partial<EndpointState>): properties is EndpointState {
  return properties.url !== undefined;
}

export function isPending(state: EndpointState): state is PendingState {
  return state.pending !== undefined;
}

/** Returns what a state has of these: no key that has no value. */
export function recognitionOf({ registeredAt, storedAs }: MayLack<Recognition>): Recognition {
  return {
    ...(registeredAt !== undefined && { registeredAt }),
    ...(storedAs !== undefined && { storedAs }),
  };
}

type MayLack<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** Returns where these settings lead, as the state records it. */
export function originOf({
  baseUrl,
  apiKey,
  providerName,
}: Readonly<Record<"baseUrl" | "apiKey" | "providerName", string>>): Origin {
  return {
    baseUrl: normalizeBaseUrl(baseUrl),
    account: createHash("sha256").update(`pulumi-webhook-endpoints\0${apiKey}`).digest("hex").slice(0, 6),
    ...(providerName === "" ? {} : { provider: providerName }),
  };
}
