import type { Engine } from "../provider/engine";
import { type LookupOptions, lookUpEndpoint, lookUpEndpoints } from "../program/lookup";
import { isSecretUrl, noteSecretUrl } from "../provider/secretUrls";
import { Stacks } from "../settlement/stack";
import { unknownOptions } from "../shared/knownOptions";
import { schema } from "./schema";
import type { Properties, Revealed } from "./values";

type FunctionToken = keyof typeof schema.functions;
type Found = Awaited<ReturnType<typeof lookUpEndpoint>>;

interface CallOptions extends LookupOptions {
  readonly engine: Pick<Engine, "rootUrn">;
}

interface Answer {
  readonly values: Properties;
  /** True if it holds a url that this program, or the stack's state, keeps as a secret. */
  readonly isSecret: boolean;
}

const FUNCTIONS: Readonly<
  Record<
    FunctionToken,
    (args: Properties, options: LookupOptions) => Promise<{ values: Properties; found: readonly Found[] }>
  >
> = {
  "webhooks:index:getWebhookEndpoint": async ({ id }, options) => {
    const found = await lookUpEndpoint(id as string, options);
    return { values: { ...found }, found: [found] };
  },
  "webhooks:index:getWebhookEndpoints": async (args, options) => {
    const found = await lookUpEndpoints(args, options);
    return { values: { endpoints: found }, found };
  },
};

/** Calls a function of the schema. An argument that is null counts as left out. @throws Error for what the schema does not have */
export async function callFunction(
  token: string,
  args: Properties,
  { engine, ...options }: CallOptions,
): Promise<Answer> {
  if (!isFunction(token)) throw new Error(`webhooks has no function ${token}`);
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  const names = Object.keys(schema.functions[token].inputs.properties);
  const [unknown] = unknownOptions(given, names, `an argument of ${token.split(":").at(-1)}`);
  if (unknown !== undefined) throw new Error(unknown);
  const { values, found } = await FUNCTIONS[token](given, options);
  return { values, isSecret: await hasSecretUrl(found, engine, options.environment) };
}

function isFunction(token: string): token is FunctionToken {
  return Object.hasOwn(FUNCTIONS, token);
}

/** Remembers the url of a declared resource if it is a secret. */
export function noteDeclared({ values, secretNames }: Revealed): void {
  if (secretNames.has("url")) noteSecretUrl(values.url);
}

/** A language host may call a function before it declares a resource. Of earlier runs, the state knows which urls are secret. */
async function hasSecretUrl(
  found: readonly Found[],
  engine: CallOptions["engine"],
  environment: NodeJS.ProcessEnv,
): Promise<boolean> {
  if (found.some(({ url }) => isSecretUrl(url))) return true;
  if (found.length === 0) return false;
  const stack = await new Stacks(() => engine.rootUrn(), environment, Date.now()).current();
  const state = await stack?.state();
  return found.some(({ id }) => state?.hasSecretUrl(id));
}
