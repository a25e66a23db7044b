import { type LookupOptions, lookUpEndpoint, lookUpEndpoints } from "../program/lookup";
import type { Engine } from "../provider/engine";
import { isSecretUrl } from "../provider/secretUrls";
import type { readStackState } from "../provider/stack";
import type { schema } from "./schema";
import type { Properties } from "./values";

type Endpoint = Awaited<ReturnType<typeof lookUpEndpoint>>;
type Look = (args: Properties, options: LookupOptions) => Promise<Endpoint | Endpoint[]>;

interface CallOptions extends LookupOptions {
  readonly engine: Pick<Engine, "rootUrn">;
  readonly readState: typeof readStackState;
}

const FUNCTIONS: Readonly<Record<string, Look>> = {
  "webhooks:index:getWebhookEndpoint": ({ id }, options) => lookUpEndpoint(id as string, options),
  "webhooks:index:getWebhookEndpoints": lookUpEndpoints,
} satisfies Record<keyof typeof schema.functions, Look>;

/**
 * Calls a function of the schema, and returns its values and whether they are secret. An argument that is null counts as left out.
 *
 * @throws Error for a function that the schema does not have
 */
export async function callFunction(token: string, args: Properties, options: CallOptions) {
  const look = FUNCTIONS[token];
  if (look === undefined) throw new Error(`webhooks has no function ${token}`);
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  const found = await look(given, options);
  const values: Properties = Array.isArray(found) ? { endpoints: found } : { ...found };
  return { values, isSecret: await mayBeSecret([found].flat(), options) };
}

/**
 * Returns whether a program keeps one of these urls as a secret. It may call a function before it declares the resource, but the state
 * knows the endpoints of earlier runs: a url that it encrypts is not a string there. Where the state cannot be read, all are secret.
 */
async function mayBeSecret(
  found: readonly Endpoint[],
  { engine, environment, readState }: CallOptions,
): Promise<boolean> {
  if (found.some(({ url }) => isSecretUrl(url))) return true;
  const urn = found.length === 0 ? undefined : await engine.rootUrn();
  if (urn === undefined) return false;
  const read = () => readState(urn, undefined, environment);
  // Once more, because the engine may be writing the state just now.
  const state = await read()
    .catch(read)
    .catch(() => undefined);
  const ids = new Set<string | undefined>(found.map(({ id }) => id));
  return state?.endpoints.some(({ id, outputs }) => ids.has(id) && typeof outputs?.url !== "string") ?? true;
}
