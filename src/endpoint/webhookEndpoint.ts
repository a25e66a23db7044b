import * as pulumi from "@pulumi/pulumi";
import { providerCode, typeToken } from "./promises";
import type { EndpointType, WebhookEndpointArgs } from "./types";

/**
 * An endpoint of the webhook service: a URL that it tells about jobs.
 *
 * A change of `url`, `type` or `ip` replaces it, the new one registered before the old one is deleted, so that no event
 * is missed (`deleteBeforeReplace` turns that round). One that was deleted behind Pulumi's back is gone on the next
 * `pulumi refresh` and registered anew by the next `pulumi up`.
 *
 * @example
 * const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
 * export const jobsEndpointId = jobs.id;
 */
export class WebhookEndpoint extends pulumi.CustomResource {
  /** As declared; in the service's own spelling only when it was read by `WebhookEndpoint.get`. */
  declare public readonly url: pulumi.Output<string>;
  declare public readonly type: pulumi.Output<EndpointType>;
  /** The address filter as declared: the service does not return it. */
  declare public readonly ip: pulumi.Output<string | null>;
  /** In the service's own format; null until the first refresh. */
  declare public readonly createdAt: pulumi.Output<string | null>;
  /** In the service's own format; null until the first refresh. */
  declare public readonly updatedAt: pulumi.Output<string | null>;

  /**
   * An endpoint that is managed elsewhere, read only. A missing one is an error.
   *
   * @param id The id that the service gave.
   */
  public static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    opts?: pulumi.CustomResourceOptions,
  ): WebhookEndpoint {
    // With an empty id the SDK would go on to register one.
    if (!id) {
      throw new pulumi.RunError(
        `WebhookEndpoint.get: the id of ${JSON.stringify(name)} is empty. Pass the one that the service gave.`,
      );
    }
    return new WebhookEndpoint(name, undefined, { ...opts, id });
  }

  constructor(name: string, args: WebhookEndpointArgs, opts?: pulumi.CustomResourceOptions);
  /** @internal */
  constructor(name: string, args: undefined, opts: pulumi.CustomResourceOptions);
  constructor(name: string, args: WebhookEndpointArgs | undefined, opts?: pulumi.CustomResourceOptions) {
    const outputs = {
      url: undefined,
      type: undefined,
      ip: undefined,
      createdAt: undefined,
      updatedAt: undefined,
    };
    super(typeToken, name, { ...outputs, ...args, __provider: providerCode }, opts);
  }

  /** Whether a value is a `WebhookEndpoint`, also of another copy of this package. */
  public static override isInstance(value: unknown): value is WebhookEndpoint {
    return pulumi.CustomResource.isInstance(value) && Reflect.get(value, "__pulumiType") === typeToken;
  }
}
