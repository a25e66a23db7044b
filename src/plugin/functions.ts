import { type LookupOptions, lookUpEndpoint, lookUpEndpoints } from "../program/lookup";
import type { Engine } from "../provider/engine";
import type { RunOptions } from "../provider/run";
import { isSecretUrl } from "../provider/secretUrls";
import { readStackState } from "../provider/stack";
import { unknownOptions } from "../shared/knownOptions";
import { schema } from "./schema";
import type { Properties } from "./values";

type FunctionToken = keyof typeof schema.functions;
type Endpoint = Awaited<ReturnType<typeof lookUpEndpoint>>;

interface CallOptions extends LookupOptions, Pick<RunOptions, "readState"> {
  readonly engine: Pick<Engine, "rootUrn">;
}

interface Answer {
  readonly values: Properties;
  /** True if it holds a url that this program, or the stack's state, keeps as a secret. */
  readonly isSecret: boolean;
}

const FUNCTIONS: Readonly<
  Record<FunctionToken, (args: Properties, options: LookupOptions) => Promise<Endpoint | Endpoint[]>>
> = {
  "webhooks:index:getWebhookEndpoint": ({ id }, options) => lookUpEndpoint(id as string, options),
  "webhooks:index:getWebhookEndpoints": lookUpEndpoints,
};

/** Calls a function of the schema. An argument that is null counts as left out. @throws Error for what the schema does not have */
export async function callFunction(token: string, args: Properties, options: CallOptions): Promise<Answer> {
  if (!isFunction(token)) throw new Error(`webhooks has no function ${token}`);
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  const names = Object.keys(schema.functions[token].inputs.properties);
  const [unknown] = unknownOptions(given, names, `an argument of ${token.split(":").at(-1)}`);
  if (unknown !== undefined) throw new Error(unknown);
  const found = await FUNCTIONS[token](given, options);
  const values = Array.isArray(found) ? { endpoints: found } : { ...found };
  return { values, isSecret: await mayBeSecret([found].flat(), options) };
}

function isFunction(token: string): token is FunctionToken {
  return Object.hasOwn(FUNCTIONS, token);
}

/**
 * Returns whether a program keeps one of these urls as a secret. It may call a function before it declares the resource, but the state
 * knows the endpoints of earlier runs: a url that it encrypts is not a string there. Where the state cannot be read, all are secret.
 */
async function mayBeSecret(
  found: readonly Endpoint[],
  { engine, environment, readState = readStackState }: CallOptions,
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
