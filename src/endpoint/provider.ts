import type * as dynamic from "@pulumi/pulumi/dynamic";
import { type Clock, type Endpoint, WebhookError } from "../client";
import { checkArguments, unknownValue } from "./check";
import { type EngineLog, engineLog } from "./engine";
import { EndpointError, isNotFound, isUnauthorized, PendingError } from "./errors";
import { isProvisional } from "./registrar";
import { Run } from "./run";
import { resolveSettings } from "./settings";
import type { EndpointInputs, EndpointState, PendingRegistration } from "./types";
import { sameUrl } from "./url";

export interface ProviderOptions {
  readonly environment?: NodeJS.ProcessEnv;
  readonly log?: EngineLog;
  readonly clock?: Clock;
}

/** Inputs and state as the plugin passes them: with the provider's own code beside them. */
type WithProvider<T> = T & { __provider?: string };

/**
 * The six verbs over the service's register, get and delete: a change of url, type or ip replaces, what the service does
 * not know is gone, and nothing is ever changed in place because the service cannot. How the engine calls them, and what it
 * makes of their answers, are the engine rules of docs/pulumi-engine.md.
 */
export function createProvider(options: ProviderOptions = {}) {
  const { environment = process.env, log = engineLog(), clock } = options;
  let configuration: dynamic.Config | undefined;
  let started: Started | undefined;

  // Resolved in the verbs, not in configure: one that throws is not called again (engine rule 1).
  const start = (): Started => {
    started ??= startRun({ configuration, environment, log, clock });
    return started;
  };
  const requireRun = (): Run => {
    const result = start();
    if ("run" in result) return result.run;
    throw new EndpointError("SETTINGS_INVALID", result.problems.join("; "));
  };

  const verbs = {
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configuration = request.config;
      started = undefined;
    },

    async check(
      olds: WithProvider<Partial<EndpointInputs>>,
      news: WithProvider<Record<string, unknown>>,
    ): Promise<dynamic.CheckResult> {
      const { problems, warnings } = checkArguments(news);
      const result = start();
      if ("problems" in result)
        problems.push(...result.problems.map((problem) => `${problem} (SETTINGS_INVALID)`));
      else if (problems.length === 0) {
        for (const warning of warnings) result.run.warnOnce(warning);
        if (olds.url === undefined) await lookAhead(result.run, news, problems);
      }
      // Null is what a program passes for "none", and what the state would keep as a value.
      const inputs = Object.fromEntries(Object.entries(news).filter(([, value]) => value !== null));
      return { inputs, failures: problems.map((reason) => ({ property: "", reason })) };
    },

    async diff(
      id: string,
      olds: EndpointState,
      news: WithProvider<EndpointInputs>,
    ): Promise<dynamic.DiffResult> {
      const run = requireRun();
      const replaces = [
        ...(olds.url === news.url ? [] : ["url"]),
        ...(olds.type === news.type ? [] : ["type"]),
        ...((olds.ip ?? undefined) === (news.ip ?? undefined) ? [] : ["ip"]),
      ];
      // What it was to be is no longer wanted: then the delete of the pending one settles it, not the create.
      const pending = replaces.length === 0 ? olds.pending : undefined;
      if (isProvisional(id)) {
        run.assertSameService(id, olds, undefined);
        replaces.push("pending");
      }
      if (run.made.has(id)) replaces.push("id");
      run.registrar.take(id);
      if (!run.refreshed.delete(id)) {
        if (replaces.length === 0 && (await run.isElsewhere(id, olds))) replaces.push("account");
        if (replaces.length === 0) run.live.add(id);
        else {
          if (!run.made.has(id)) run.live.delete(id);
          run.replaces(id, news, pending);
        }
      }
      const codeChanged = (olds as WithProvider<EndpointState>).__provider !== news.__provider;
      return { changes: replaces.length > 0 || codeChanged, replaces };
    },

    async create(inputs: WithProvider<EndpointInputs>): Promise<dynamic.CreateResult> {
      const run = requireRun();
      const replaced = run.takeReplaced(inputs);
      const exists = replaced !== undefined && !isProvisional(replaced.id);
      const pending = replaced?.pending && { id: replaced.id, pending: replaced.pending };
      try {
        const endpoint =
          inputs.adoptId !== undefined && !exists
            ? await run.registrar.adopt(inputs.adoptId, inputs, pending)
            : await run.registrar.register(inputs, pending);
        run.made.add(endpoint.id);
        run.live.add(endpoint.id);
        return { id: endpoint.id, outs: stateOf(endpoint, inputs, run) };
      } catch (error) {
        // The plugin adds the provider's code to what was made, but not to what was half-made.
        if (error instanceof PendingError) Object.assign(error.properties, { __provider: inputs.__provider });
        throw error;
      } finally {
        run.reader.forget();
      }
    },

    async read(id: string, props: WithProvider<Partial<EndpointState>> = {}): Promise<dynamic.ReadResult> {
      const run = requireRun();
      const recorded = isRecorded(props) ? props : undefined;
      if (recorded && !recorded.external && !hasPending(recorded)) {
        // Another resource has it: this one's registration was taken for a lost one.
        if (run.registrar.hasRecovered(id)) return {};
        run.registrar.take(id);
      }
      const endpoint = hasPending(recorded)
        ? await run.registrar.settle(id, recorded)
        : await run.reader.find(id);
      if (!endpoint) {
        if (!recorded)
          throw new EndpointError(
            "ENDPOINT_NOT_FOUND",
            `the service has no endpoint ${id}: check the id, and that the API key is one of its account`,
          );
        run.assertSameService(id, recorded, undefined);
        run.warnOfOtherAccount(id, recorded);
        if (!hasPending(recorded)) run.miss();
        return {};
      }
      run.hit();
      if (recorded && !recorded.external) {
        run.registrar.take(endpoint.id);
        run.refreshed.add(endpoint.id);
      }
      const url = recorded && sameUrl(recorded.url, endpoint.url) ? recorded.url : endpoint.url;
      const inputs = { url, type: endpoint.type, ...(recorded?.ip ? { ip: recorded.ip } : {}) };
      const external = recorded ? recorded.external : (true as const);
      const state = { ...stateOf(endpoint, inputs, run), ...(external ? { external } : {}) };
      // What was declared stays as it is, unless somebody changed the endpoint: then the next `up` puts it right.
      const unchanged = recorded?.url === url && recorded.type === endpoint.type;
      return unchanged ? { id: endpoint.id, props: state } : { id: endpoint.id, props: state, inputs };
    },

    /** Only reached when nothing but the provider's own code or a lifecycle option changed (engine rule 4). */
    async update(_id: string, olds: WithProvider<EndpointState>): Promise<dynamic.UpdateResult> {
      return { outs: olds };
    },

    async delete(id: string, state: WithProvider<EndpointState>): Promise<void> {
      const run = requireRun();
      if (run.live.has(id)) {
        log.warn(`endpoint ${id} is not deleted: another resource of this program has it`);
        return;
      }
      try {
        if (hasPending(state)) {
          if (await run.registrar.discard(id, state)) return;
          run.assertSameService(id, state, undefined);
          run.warnOfOtherAccount(id, state);
        } else await run.client.delete(id);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        run.assertSameService(id, state, error);
        run.warnOfOtherAccount(id, state);
      } finally {
        run.reader.forget();
      }
    },
  };
  return explained(verbs);
}

/**
 * The instance that users' state names for ever, by way of the constant that each resource carries.
 *
 * Its subpath and its name are a promise: state written by the first release loads them from the last one.
 */
export const provider = createProvider();

interface RunOptions {
  readonly configuration: dynamic.Config | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: EngineLog;
  readonly clock: Clock | undefined;
}

type Started = { run: Run } | { problems: string[] };

function startRun({ configuration, environment, log, clock }: RunOptions): Started {
  const resolved = resolveSettings((key) => configuration?.get(key), environment);
  if ("problems" in resolved) return resolved;
  try {
    return { run: new Run(resolved.settings, log, clock) };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { problems: [error.reason] }; // of the proxy in the environment
  }
}

/**
 * Looks, before anything is registered, for what a new resource would duplicate. Best effort, as `create` looks again; but
 * a refused key is worth to be known in the preview.
 */
async function lookAhead(run: Run, news: Record<string, unknown>, problems: string[]): Promise<void> {
  if (news.url === unknownValue || news.type === unknownValue || news.adoptId !== undefined) return;
  const inputs = news as unknown as EndpointInputs;
  if (run.isReplacement(inputs)) return;
  try {
    await run.registrar.lookForAlike(inputs);
  } catch (error) {
    if (error instanceof EndpointError) problems.push(error.message);
    else if (isUnauthorized(error)) problems.push(keyRefused(error).message);
  }
}

function stateOf(endpoint: Endpoint, inputs: EndpointInputs, run: Run): EndpointState {
  return {
    url: inputs.url,
    type: inputs.type,
    ip: inputs.ip ?? null,
    createdAt: endpoint.createdAt,
    updatedAt: endpoint.updatedAt,
    ...run.origin,
  };
}

/** Only state has a base URL: `.get` of an id passes none, and there a missing endpoint is an error (engine rule 7). */
function isRecorded(props: Partial<EndpointState>): props is EndpointState {
  return props.baseUrl !== undefined;
}

function hasPending(
  state: EndpointState | undefined,
): state is EndpointState & { pending: PendingRegistration } {
  return state?.pending !== undefined;
}

/** Says of a refused key what only the provider knows: which key a command without a program uses (engine rule 3). */
function keyRefused(error: WebhookError): EndpointError {
  return new EndpointError(
    "KEY_REFUSED",
    `${error.reason} A plain \`pulumi refresh\` or \`pulumi destroy\` uses the key that the last \`pulumi up\` ` +
      "recorded: after a rotation, run `pulumi up` first, or add --run-program. Nothing was changed.",
    { cause: error },
  );
}

/** The verbs with their errors explained, and without the stack that the plugin would print (engine rule 15). */
function explained<T extends Record<string, (...args: never[]) => Promise<unknown>>>(verbs: T): T {
  const fail = (error: unknown): never => {
    const explained = isUnauthorized(error) ? keyRefused(error) : error;
    if (explained instanceof Error) explained.stack = "";
    throw explained;
  };
  const wrapped = Object.entries(verbs).map(([name, verb]) => [
    name,
    (...args: never[]) => verb(...args).catch(fail),
  ]);
  return Object.fromEntries(wrapped) as T;
}
