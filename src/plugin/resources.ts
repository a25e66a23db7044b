import type { Properties } from "../provider/facts/exportedState";
import { SECRET_INPUT, URN_INPUT } from "../provider/hiddenInputs";
import type { Configuration } from "../provider/settings";
import type { RunOptions } from "../provider/startRun";
import { createProvider } from "../provider/verbs";
import { foreign } from "../shared/escape";
import { NATIVE_TYPE_TOKEN, NATIVE_VALIDATION_TYPE_TOKEN } from "../shared/permanent";
import { typeOf } from "../shared/urn";
import { createReceiverValidationProvider } from "../validation/receiverValidationProvider";
import { type ResourceToken, schema } from "./schema";
import type { FromEngine } from "./values";

/** The verbs of a resource: those of the dynamic provider, and what more the native plugin passes them. */
export interface Verbs {
  /** @param about what `check` may know besides the program's inputs */
  check(
    olds: object,
    news: object,
    about: Pick<FromEngine, "secretNames"> & { readonly urn: string },
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
export type Resources = ReturnType<typeof createResources>;

export function createResources(options: Pick<RunOptions, "engine" | "environment"> & Partial<RunOptions>) {
  const endpoint = createProvider(options);
  const verbs: Readonly<Record<ResourceToken, Verbs>> = {
    [NATIVE_TYPE_TOKEN]: {
      ...endpoint,
      check: (olds, news, { urn, secretNames }) =>
        endpoint.check({ ...olds }, { ...news, [URN_INPUT]: urn, [SECRET_INPUT]: secretNames.has("url") }),
    },
    [NATIVE_VALIDATION_TYPE_TOKEN]: createReceiverValidationProvider(options.engine),
  };
  const isResource = (token: string): token is ResourceToken => Object.hasOwn(verbs, token);

  return {
    async configure(get: Configuration): Promise<void> {
      // Of the configuration that the dynamic provider's plugin passes, the verbs use `get`.
      const config = { get } as Parameters<typeof endpoint.configure>[0]["config"];
      await endpoint.configure({ config });
    },

    /** @throws Error for a resource that the schema does not have */
    of(urn: string): Resource {
      const token = typeOf(urn);
      if (!isResource(token)) throw new Error(`webhooks has no resource ${foreign(token)}`);
      const { properties, inputProperties } = schema.resources[token];
      const secrets = Object.entries(inputProperties).filter(([, property]) => "secret" in property);
      const secretNames = secrets.map(([name]) => name);
      return { verbs: verbs[token], outputNames: Object.keys(properties), secretNames };
    },
  };
}
