import { type Wait, WebhooksClient, type WebhooksClientOptions } from "../client";
import type { Clock } from "../client/clock";
import type { Engine, EngineLog } from "./engine";
import { Accounts } from "./facts/account";
import { Declarations } from "./facts/declarations";
import { Existence } from "./facts/existence";
import { NotedEndpoints } from "./facts/notedEndpoints";
import { Stack } from "./facts/stack";
import type { PulumiCommand } from "./facts/stackSource";
import { gracePeriodFor, WORTH_A_LINE_MS } from "./facts/time";
import { UnansweredRegistrations } from "./facts/unansweredRegistrations";
import { OriginCheck } from "./originCheck";
import { Conclusions } from "./registration/conclude";
import { CreationCheck } from "./registration/creationCheck";
import { Registrar } from "./registration/registrar";
import { Service } from "./service";
import { type Configuration, type ResolvedSettings, resolveSettings } from "./settings";
import { originOf } from "./state";

export interface RunOptions extends PulumiCommand {
  readonly engine: Engine;
  readonly clock: Clock;
  /** What carries the requests. Default: connections, through the environment's proxies. */
  readonly dispatcher?: WebhooksClientOptions["dispatcher"];
}

export type Run = ReturnType<typeof assemble>;

/** Starts a run with the settings of a configuration and the environment, or returns what is wrong with them. */
export function startRun(configuration: Configuration, options: RunOptions) {
  const resolved = resolveSettings(configuration, options.environment);
  return "problems" in resolved ? resolved : { run: assemble(resolved, options) };
}

/**
 * Makes the parts of one engine command over one account, and gives each what it needs. The plugin is a process of its own for
 * each provider and command (engine rule 14), so what is in memory serves one `preview`, `up`, `refresh` or `destroy`.
 */
function assemble(
  { settings, showResponses, ifExists, providerName }: ResolvedSettings,
  options: RunOptions,
) {
  const { engine, clock, dispatcher } = options;
  const { cancelled } = engine;
  const { timeoutMs } = settings;
  const graceMs = gracePeriodFor(timeoutMs);
  const origin = originOf({ ...settings, providerName });
  const log = oncePerMessage(engine);
  const onWait = ({ operation, delayMs, statusCode }: Wait) => {
    if (delayMs < WORTH_A_LINE_MS) return;
    const reason = statusCode === undefined ? "did not answer" : `answered ${statusCode}`;
    log.info(`${operation} waits ${Math.ceil(delayMs / 1000)} s: the service ${reason}`);
  };
  const client = new WebhooksClient({ ...settings, onWait, dispatcher }, { clock, cancelled });
  const showResponsesWithout = showResponses ? settings.apiKey : undefined;
  const service = new Service(client, { clock, log, cancelled, showResponsesWithout });
  const [endpoints, registrations, declarations] = [
    new NotedEndpoints(),
    new UnansweredRegistrations(),
    new Declarations(),
  ];
  const onGone = (id: string) => endpoints.noteDeleted(id);
  const onDenied = (id: string) => endpoints.noteDenied(id);
  const existence = new Existence({ service, clock, log, cancelled, onGone, onDenied });
  const stack = new Stack({ ...options, log, declarations });
  const accounts = new Accounts({ origin, service, stack });
  const context = {
    ...{ clock, log, cancelled, origin, timeoutMs, graceMs },
    ...{ endpoints, registrations, declarations, service, existence, stack, accounts },
  };
  const conclusions = new Conclusions(context);
  const registrar = new Registrar(context, conclusions);
  return {
    ...context,
    ifExists,
    registrar,
    originCheck: new OriginCheck(context),
    creationCheck: new CreationCheck(context, conclusions),
  };
}

/** The engine calls some verbs twice for one resource, and `create` repeats what `check` has said. */
function oncePerMessage(engine: EngineLog): EngineLog {
  const told = new Set<string>();
  const isNew = (message: string) => told.size < told.add(message).size;
  return {
    info: (message) => isNew(message) && engine.info(message),
    warn: (message) => isNew(message) && engine.warn(message),
  };
}
