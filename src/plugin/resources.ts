import { NAME_INPUT } from "../provider/arguments";
import type { Engine } from "../provider/engine";
import { createProvider } from "../provider/verbs";
import type { RunOptions } from "../provider/run";
import type { Configuration } from "../provider/settings";
import { createReceiverValidation } from "../validation/provider";
import { type ResourceToken, schema } from "./schema";
import type { Properties } from "./values";

/** The verbs of a resource, as both doors serve them. */
export interface Verbs {
  check(
    olds: object,
    news: object,
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
  /** The input that carries the resource's name to `check`, for its messages. It is never among the inputs in the state. */
  readonly nameInput?: string;
}

interface ResourceOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly engine: Engine;
  readonly clock?: RunOptions["clock"] | undefined;
}

type EndpointVerbs = ReturnType<typeof createProvider>;
type DynamicConfig = Parameters<EndpointVerbs["configure"]>[0]["config"];

/** The resources of one provider process. */
export class Resources {
  readonly #endpoint: EndpointVerbs;
  readonly #resources: Readonly<Record<ResourceToken, Resource>>;

  constructor({ environment, engine, clock }: ResourceOptions) {
    this.#endpoint = createProvider({ environment, engine, ...(clock && { clock }) });
    this.#resources = {
      "webhooks:index:WebhookEndpoint": {
        ...describe("webhooks:index:WebhookEndpoint", this.#endpoint),
        nameInput: NAME_INPUT,
      },
      "webhooks:index:ReceiverValidation": describe(
        "webhooks:index:ReceiverValidation",
        createReceiverValidation(engine),
      ),
    };
  }

  async configure(get: Configuration): Promise<void> {
    // Of the configuration that the dynamic provider's plugin passes, the verbs use `get`.
    const config = { get } as DynamicConfig;
    await this.#endpoint.configure({ config });
  }

  /** @throws Error for a resource that the schema does not have */
  of(urn: string): Resource {
    const token = urn.split("::")[2]?.split("$").at(-1) ?? "";
    if (!Object.hasOwn(this.#resources, token)) throw new Error(`webhooks has no resource ${token}`);
    return this.#resources[token as ResourceToken];
  }
}

function describe(token: ResourceToken, verbs: Verbs): Resource {
  const { properties, inputProperties } = schema.resources[token];
  const secretNames = Object.entries(inputProperties)
    .filter(([, property]) => "secret" in property)
    .map(([name]) => name);
  return { verbs, outputNames: Object.keys(properties), secretNames };
}
