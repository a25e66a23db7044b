import { NAME_INPUT, SECRET_INPUT } from "../provider/arguments";
import type { RunOptions } from "../provider/run";
import type { Configuration } from "../provider/settings";
import { createProvider } from "../provider/verbs";
import { nameOf } from "../shared/urn";
import { createReceiverValidation } from "../validation/provider";
import { type ResourceToken, schema } from "./schema";
import type { Properties, Revealed } from "./values";

/** The verbs of a resource, as both doors serve them. */
export interface Verbs {
  /** @param about what `check` may know besides the program's inputs */
  check(
    olds: object,
    news: object,
    about: Pick<Revealed, "secretNames"> & { readonly urn: string },
  ): Promise<{ inputs?: unknown; failures?: { property: string; reason: string }[] }>;
  diff(id: string, olds: object, news: object): Promise<{ changes?: boolean; replaces?: string[] }>;
  create(inputs: object): Promise<{ id: string; outs?: Properties }>;
  read(id: string, state?: object): Promise<{ id?: string; props?: Properties; inputs?: Properties }>;
  update(id: string, olds: object, news: object): Promise<{ outs?: Properties }>;
  delete(id: string, state: object): Promise<void>;
}

export interface Resource {
  readonly verbs: Verbs;
  /** What a program sees of it. */
  readonly outputNames: readonly string[];
  /** Inputs that are secret even where a program does not say so. */
  readonly secretNames: readonly string[];
}

/** The resources of one provider process. */
export interface Resources {
  configure(get: Configuration): Promise<void>;
  /** @throws Error for a resource that the schema does not have */
  of(urn: string): Resource;
}

export function createResources(
  options: Pick<RunOptions, "engine" | "environment"> & Partial<RunOptions>,
): Resources {
  const endpoint = createProvider(options);
  const resources: Readonly<Record<string, Resource>> = {
    "webhooks:index:WebhookEndpoint": described("webhooks:index:WebhookEndpoint", {
      ...endpoint,
      check: (olds, news, { urn, secretNames }) =>
        endpoint.check(
          { ...olds },
          { ...news, [NAME_INPUT]: nameOf(urn), [SECRET_INPUT]: secretNames.has("url") },
        ),
    }),
    "webhooks:index:ReceiverValidation": described(
      "webhooks:index:ReceiverValidation",
      createReceiverValidation(options.engine),
    ),
  } satisfies Record<ResourceToken, Resource>;
  return {
    async configure(get) {
      // Of the configuration that the dynamic provider's plugin passes, the verbs use `get`.
      const config = { get } as Parameters<typeof endpoint.configure>[0]["config"];
      await endpoint.configure({ config });
    },
    of(urn) {
      const token = urn.split("::")[2]?.split("$").at(-1) ?? "";
      const resource = resources[token];
      if (resource === undefined) throw new Error(`webhooks has no resource ${token}`);
      return resource;
    },
  };
}

function described(token: ResourceToken, verbs: Verbs): Resource {
  const { properties, inputProperties } = schema.resources[token];
  const secretNames = Object.entries(inputProperties)
    .filter(([, property]) => "secret" in property)
    .map(([name]) => name);
  return { verbs, outputNames: Object.keys(properties), secretNames };
}
