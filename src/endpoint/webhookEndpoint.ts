import * as pulumi from "@pulumi/pulumi";
import { PROVIDER_CODE, TYPE_TOKEN } from "../shared/permanent";
import { NAME_INPUT } from "./arguments";
import { declareUrl } from "./declaredUrls";
import type { EndpointType, WebhookEndpointArgs } from "./types";

/** The SDK makes a property for each, also for those that the service fills in. */
const OUTPUTS = {
  url: undefined,
  type: undefined,
  ip: undefined,
  createdAt: undefined,
  updatedAt: undefined,
};

/**
 * An endpoint of the webhook service: a URL that receives its events about jobs.
 *
 * A change of `url`, `type` or `ip` replaces it. The new endpoint is registered before the old one is deleted, so that no
 * event is missed (`deleteBeforeReplace` reverses that). If somebody deleted it at the service, `pulumi refresh` drops it from
 * the state and the next `pulumi up` registers a new one.
 *
 * @example
 * const jobs = new WebhookEndpoint("jobs", { url: "https://hooks.example.com/jobs", type: "production" });
 * export const jobsEndpointId = jobs.id;
 */
export class WebhookEndpoint extends pulumi.CustomResource {
  /** As declared. Read by `WebhookEndpoint.get`, it is in the service's own spelling. */
  declare public readonly url: pulumi.Output<string>;
  /** What the endpoint is for. The service defines what the types mean. */
  declare public readonly type: pulumi.Output<EndpointType>;
  /** The address filter as declared. The service does not return it. */
  declare public readonly ip: pulumi.Output<string | null>;
  /** In the service's own format; null until the first refresh. */
  declare public readonly createdAt: pulumi.Output<string | null>;
  /** In the service's own format; null until the first refresh. */
  declare public readonly updatedAt: pulumi.Output<string | null>;

  /**
   * Reads an endpoint that is managed elsewhere. A missing endpoint is an error.
   *
   * @param id The id that the service issued.
   */
  public static get(
    name: string,
    id: pulumi.Input<pulumi.ID>,
    opts?: pulumi.CustomResourceOptions,
  ): WebhookEndpoint {
    // With an empty id the SDK would register a new endpoint.
    if (!id) {
      throw new pulumi.RunError(
        `WebhookEndpoint.get: the id of ${JSON.stringify(name)} is empty. Pass the id that the service issued.`,
      );
    }
    return new WebhookEndpoint(name, undefined, { ...opts, id });
  }

  constructor(name: string, args: WebhookEndpointArgs, opts?: pulumi.CustomResourceOptions);
  /** @internal */
  constructor(name: string, args: undefined, opts: pulumi.CustomResourceOptions);
  constructor(name: string, args: WebhookEndpointArgs | undefined, opts?: pulumi.CustomResourceOptions) {
    if (opts?.import !== undefined) {
      throw new pulumi.RunError(
        `WebhookEndpoint ${JSON.stringify(name)}: the import option cannot reach a dynamic provider. To adopt the endpoint, set ` +
          "adoptId to its id, or use `pulumi import --file` with an entry that has its inputs and outputs.",
      );
    }
    const nameInput = args === undefined ? {} : { [NAME_INPUT]: name };
    super(TYPE_TOKEN, name, { ...OUTPUTS, ...args, ...nameInput, __provider: PROVIDER_CODE }, opts);
    declareUrl(args?.url);
    if (opts?.deletedWith !== undefined) {
      void pulumi.log.warn(
        `WebhookEndpoint ${JSON.stringify(name)}: with deletedWith, Pulumi drops the endpoint from the state without deleting it, so ` +
          "it stays at the service and keeps getting events. Remove deletedWith if you want the endpoint deleted.",
        this,
      );
    }
  }

  /** Returns whether a value is a `WebhookEndpoint`, also from another copy of this package. */
  public static override isInstance(value: unknown): value is WebhookEndpoint {
    return pulumi.CustomResource.isInstance(value) && Reflect.get(value, "__pulumiType") === TYPE_TOKEN;
  }
}
