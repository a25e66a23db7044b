import type * as pulumi from "@pulumi/pulumi";
import type { EndpointType } from "../client/endpoint";
import type { Origin } from "./origin";

export type { EndpointType };

/** A program's declaration of an endpoint. A change of `url`, `type` or `ip` replaces it; the other two never do. */
export interface WebhookEndpointArgs {
  /** An absolute http(s) URL without user info and fragment. The service gets it exactly as written. */
  url: pulumi.Input<string>;
  /** What the endpoint is for. The service defines what the types mean. A change replaces the endpoint. */
  type: pulumi.Input<EndpointType>;
  /** An IPv4 or IPv6 address or CIDR range to filter by. The service never returns it, so its drift cannot be seen. */
  ip?: pulumi.Input<string>;
  /**
   * The id of an existing endpoint to adopt instead of registering a new one. Its url and type must match the
   * declaration. Nothing changes at the service. Once the resource exists, `adoptId` has no effect and may be removed.
   */
  adoptId?: pulumi.Input<string>;
  /**
   * The action when the service already has an endpoint with this url and type that this resource does not replace:
   * `"warn"` (the default) names it and registers another one, `"fail"` refuses, and `"register"` registers another one on purpose:
   * it does not warn, and does not stop with `REGISTRATION_IN_DOUBT`.
   */
  ifExists?: pulumi.Input<"warn" | "fail" | "register">;
}

/** The arguments as the verbs get them, as plain values. An argument left out is absent, never null. */
export interface EndpointInputs {
  url: string;
  type: EndpointType;
  ip?: string;
  adoptId?: string;
  ifExists?: "warn" | "fail" | "register";
}

/** What the stack's state holds. Null, never undefined: the plugin cannot encode undefined (engine rule 25). */
export interface EndpointState extends Origin {
  url: string;
  type: EndpointType;
  ip: string | null;
  createdAt: string | null;
  updatedAt: string | null;
  /** Present on what `.get` reads: after a refresh of it the engine does not call `diff`. */
  external?: true;
  /** Present while the registration is pending. The resource's id is provisional then. */
  pending?: PendingRegistration;
}

/** A pending registration, as the state holds it: what a later run needs to recognize the endpoint that it may have made. */
export interface PendingRegistration {
  /** The endpoints of this url and type that were there before it, or that belong to other resources. */
  before: string[];
  /** When it was sent last, in milliseconds on the service's clock; null when the service sends no time. */
  attemptedAt: number | null;
  /** When it was sent first; absent in states of earlier releases. After 503 it may be sent again. */
  firstAttemptedAt?: number | null;
  /** True if `before` has all of them, because the list before the request was complete. */
  complete: boolean;
}
