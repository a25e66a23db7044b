import type * as pulumi from "@pulumi/pulumi";
import type { Origin } from "./origin";

/** What an endpoint is for: the service signs and lists the two kinds apart. */
export type EndpointType = "production" | "development";

/** What a program says of an endpoint. A change of `url`, `type` or `ip` replaces it; the other two never do. */
export interface WebhookEndpointArgs {
  /** An absolute http(s) URL without user-info and fragment, sent to the service exactly as written. */
  url: pulumi.Input<string>;
  type: pulumi.Input<EndpointType>;
  /** An IPv4 or IPv6 address or CIDR range to filter by. The service never returns it, so its drift cannot be seen. */
  ip?: pulumi.Input<string>;
  /**
   * The id of an endpoint that the service has already, to take over instead of registering a new one. Its url and type
   * must be the ones declared here; nothing is changed at the service. It has no effect once the resource exists: it
   * may stay, change or go.
   */
  adoptId?: pulumi.Input<string>;
  /**
   * What to do when the service already has an endpoint with this url and type that this program does not manage:
   * `"warn"` (the default) registers all the same and names it, `"fail"` refuses.
   */
  ifExists?: pulumi.Input<"warn" | "fail">;
}

/** The arguments as the verbs get them: plain values. An argument left out is absent, never null. */
export interface EndpointInputs {
  url: string;
  type: EndpointType;
  ip?: string;
  adoptId?: string;
  ifExists?: "warn" | "fail";
}

/** What the stack's state holds. Null, never undefined: the plugin cannot encode undefined (engine rule 25). */
export interface EndpointState extends Origin {
  url: string;
  type: EndpointType;
  ip: string | null;
  createdAt: string | null;
  updatedAt: string | null;
  /** Present for what `.get` reads: after a refresh of it the engine asks for no `diff`. */
  external?: true;
  /** Present only while the outcome of the registration is unknown; the resource's id is provisional then. */
  pending?: PendingRegistration;
}

/** What a later run needs to recognise the endpoint that an unanswered registration may have left at the service. */
export interface PendingRegistration {
  /** The endpoints with this url and type that were there before, or that belong to others. */
  before: string[];
  /** When it was sent, in milliseconds on the service's clock; null where the service tells no time. */
  attemptedAt: number | null;
  /** Whether `before` is all of them: the service had listed everything. */
  complete: boolean;
}
