import * as pulumi from "@pulumi/pulumi";
import type { EndpointType } from "../client/endpoint";
import type { ReplacingArgument } from "../provider/arguments";
import { ORGANIZATION_INPUT, ROOT_INPUT, SECRET_INPUT, URN_INPUT } from "../provider/hiddenInputs";
import { UNKNOWN_VALUE } from "../shared/optionChecks";
import { AFTER_INPUT, hasType, PROVIDER_CODE, TYPE_TOKEN } from "../shared/permanent";
import { warnOfPlainKey } from "./stackSettings";

/** A program's declaration of an endpoint. A change of `url`, `type` or `ip` replaces it; the other two never do. */
export interface WebhookEndpointArgs {
  /** An absolute http(s) URL without user info and fragment. The service gets it exactly as written. A change replaces the endpoint. */
  url: pulumi.Input<string>;
  /** `"production"` or `"development"`. The service defines what they mean. A change replaces the endpoint. */
  type: pulumi.Input<EndpointType>;
  /**
   * An IPv4 or IPv6 address or CIDR range to filter by. The service never returns it, so its drift cannot be seen. A change replaces the
   * endpoint.
   */
  ip?: pulumi.Input<string> | undefined;
  /**
   * The id of an existing endpoint to adopt instead of registering a new one. Its url and type must match the
   * declaration. Nothing changes at the service. Once the resource exists, `adoptId` has no effect and may be removed.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * What happens when the service already has an endpoint with this url and type that no resource of this stack has: `"fail"` (the
   * default) registers nothing and names it, `"adopt"` adopts it if it is the only one, `"register"` registers another one on purpose.
   */
  ifExists?: pulumi.Input<"fail" | "adopt" | "register"> | undefined;
}

/** The SDK makes a property for each, also for those that the service fills in. */
const OUTPUTS = {
  url: undefined,
  type: undefined,
  ip: undefined,
  createdAt: undefined,
  updatedAt: undefined,
} satisfies Record<
  Exclude<keyof WebhookEndpoint, keyof pulumi.CustomResource> | ReplacingArgument,
  undefined
>;

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
   * Reads an endpoint that is managed elsewhere. A missing endpoint is an error. Its `url` is always secret.
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
    return new WebhookEndpoint(
      name,
      undefined,
      pulumi.mergeOptions({ ...opts, id }, { additionalSecretOutputs: ["url"] }),
    );
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
    const hidden = args === undefined ? {} : hiddenInputs(name, args, opts);
    super(TYPE_TOKEN, name, { ...OUTPUTS, ...args, ...hidden, __provider: PROVIDER_CODE }, opts);
    warnOfPlainKey();
    if (opts?.deletedWith !== undefined) {
      void pulumi.log.warn(
        `WebhookEndpoint ${JSON.stringify(name)}: with deletedWith, Pulumi drops the endpoint from the state without deleting it, so ` +
          "it stays at the service and keeps getting events. Remove deletedWith if you want the endpoint deleted.",
        this,
      );
    }
  }

  /** Returns whether a value is a `WebhookEndpoint`, also from another copy of this package, or a policy's resource of this type. */
  public static override isInstance(value: unknown): value is WebhookEndpoint {
    return hasType(value, TYPE_TOKEN);
  }
}

/**
 * Returns what `check` needs and a dynamic provider cannot know. `check` strips all but the last, which it replaces by the service's
 * time: nothing else dates a creation that is killed. Unknown in a preview, it matches any value in an update plan (engine rule 49).
 */
function hiddenInputs(
  name: string,
  { url }: WebhookEndpointArgs,
  opts: pulumi.CustomResourceOptions | undefined,
): pulumi.Inputs {
  return {
    [URN_INPUT]: urnOf(name, opts?.parent),
    ...place(),
    [SECRET_INPUT]: pulumi.isSecret(pulumi.output(url)).catch(() => false), // a url that fails fails the resource
    [AFTER_INPUT]: pulumi.runtime.isDryRun() ? UNKNOWN_VALUE : 0,
  };
}

/**
 * Returns the URN that the engine will give the resource, as a promise: an Output of the parent's would make it a dependency. A transform that
 * changes the parent is not seen.
 */
function urnOf(name: string, parent: pulumi.Resource | undefined): Promise<string> {
  return new Promise((resolve) => {
    pulumi.createUrn(name, TYPE_TOKEN, parent).apply(resolve);
  });
}

/** Returns where the stack is. A program that runs without the engine, as in a unit test, may have no organization. */
function place(): pulumi.Inputs {
  try {
    // Older SDKs have no `getRootDirectory`.
    return { [ORGANIZATION_INPUT]: pulumi.getOrganization(), [ROOT_INPUT]: pulumi.getRootDirectory?.() };
  } catch {
    return {};
  }
}
