import { randomUUID } from "node:crypto";
import { type Wait, WebhookError, WebhooksClient } from "../client";
import type { Clock } from "../client/clock";
import { Book } from "../settlement/book";
import { Evidence } from "../settlement/evidence";
import { pulumiHome } from "../settlement/files";
import { LAG_MS } from "../settlement/lag";
import { leftoversOf } from "../settlement/leftovers";
import { listWith } from "../settlement/settle";
import { Settlement } from "../settlement/settlement";
import { Stacks } from "../settlement/stack";
import { Takings } from "../settlement/takings";
import { patienceFor } from "../settlement/time";
import { originHashes } from "../settlement/trace";
import { Turns } from "../settlement/turns";
import { describeLeftovers, describeUnread } from "../settlement/words";
import { describeUrl } from "../shared/url";
import { DuplicateCheck } from "./duplicateCheck";
import type { Engine, EngineLog } from "./engine";
import { Handover } from "./handover";
import { Ledger } from "./ledger";
import { originOf } from "./origin";
import { OriginCheck } from "./originCheck";
import { Registrar } from "./registrar";
import { Service } from "./service";
import { type Configuration, type ResolvedSettings, resolveSettings } from "./settings";

export interface RunOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly engine: Engine;
  readonly clock: Clock;
}

/** How long a wait must be to be worth a line, in milliseconds. */
const WORTH_A_LINE_MS = 1_000;

export type Run = ReturnType<typeof assemble>;

/** Starts a run with the settings of a configuration and the environment, or returns what is wrong with them. */
export function startRun(
  configuration: Configuration,
  options: RunOptions,
): { run: Run } | { problems: string[] } {
  const resolved = resolveSettings(configuration, options.environment);
  if ("problems" in resolved) return resolved;
  try {
    return { run: assemble(resolved, options) };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { problems: [error.reason] }; // the environment's proxy is invalid
  }
}

/**
 * Makes the parts of one engine command over one account, and gives each what it needs. The plugin is a process of its own for
 * each provider and command (engine rule 14), so what is in memory serves one `preview`, `up`, `refresh` or `destroy`.
 */
function assemble(
  { settings, showResponses, providerName }: ResolvedSettings,
  { engine, environment, clock }: RunOptions,
) {
  const { timeoutSeconds, ...connection } = settings;
  const { cancelled } = engine;
  const timeoutMs = timeoutSeconds * 1000;
  const patienceMs = patienceFor(timeoutMs);
  const origin = originOf({ ...connection, providerName });
  const log = oncePerWarning(engine);
  const onWait = ({ operation, delayMs, statusCode }: Wait) => {
    if (delayMs < WORTH_A_LINE_MS) return;
    const answer = statusCode === undefined ? "did not answer" : `answered ${statusCode}`;
    log.info(`${operation} waits ${Math.ceil(delayMs / 1000)} s: the service ${answer}`);
  };
  const client = new WebhooksClient({ ...connection, timeoutMs, onWait }, { clock, cancelled });
  const showAnswersTo = showResponses ? connection.apiKey : undefined;
  const service = new Service(client, { clock, log, cancelled, showAnswersTo });

  const ledger = new Ledger();
  const handover = new Handover();
  const book = new Book(environment, (problem) =>
    log.warn(
      `${problem}. If this run is killed, the next one on this machine does not know what it registered, and other runs on this ` +
        "machine don't either.",
    ),
  );
  const stacks = new Stacks(
    async () => (engine.run === undefined ? undefined : engine.rootUrn()),
    environment,
    engine.startedAt(),
  );
  const asker = {
    origin: originHashes(origin),
    run: engine.run ?? "",
    sender: randomUUID(),
    timeoutMs,
    patienceMs,
    skew: service.skew,
  };
  const evidence = new Evidence(book, stacks, asker);
  const takings = new Takings(book, asker, clock);
  const settlement = new Settlement(
    { book, stacks, evidence, takings },
    {
      ...asker,
      clock,
      cancelled,
      service,
      holds: (id) => ledger.isClaimed(id),
      keeps: (id) => ledger.isKept(id),
      onWait: ({ url }, milliseconds) =>
        log.info(
          `waiting up to ${Math.ceil(milliseconds / 1000)} s in case the registration of ${describeUrl(url)} completes late`,
        ),
    },
  );
  const turns = new Turns(engine.run === undefined ? undefined : pulumiHome(environment), {
    clock,
    cancelled,
    onWait: ({ url }) => log.info(`waiting for another process that is registering ${describeUrl(url)}`),
  });
  const duplicates = new DuplicateCheck({
    ledger,
    handover,
    settlement,
    stacks,
    origin,
    log,
    baseline: (inputs) => {
      const list = () => service.baseline(takings.idsInBook(inputs));
      // Another run of this machine may have registered right before this one. What is deleted or used again, the service tells.
      // One list may serve twice.
      return listWith({ list, find: service.find }, takings.idsInBook(inputs, 2 * LAG_MS));
    },
  });
  const registrar = new Registrar({
    service,
    stacks,
    settlement,
    takings,
    turns,
    ledger,
    duplicates,
    origin,
    log,
  });
  const origins = new OriginCheck({ origin, service, stacks, takings, log });

  /** Names once what interrupted runs have left, before anything else happens. If the service cannot be asked, the next run does. */
  let named: Promise<void> | undefined;
  const nameLeftovers = (): Promise<void> => {
    named ??= (async () => {
      const stack = await stacks.current();
      if (stack === undefined) {
        named = undefined; // The reads of `up --refresh` come before the program.
        return;
      }
      const leftovers = await leftoversOf(stack, { book, evidence, asker, service }).catch(() => []);
      if (leftovers.length > 0) log.warn(describeLeftovers(leftovers));
    })();
    return named;
  };

  /** Says what this run could not see when it registered something. */
  const warnOfUnread = async (): Promise<void> => {
    const problem = (await stacks.current())?.problem;
    if (problem !== undefined) log.warn(describeUnread(problem));
  };

  return {
    duplicates,
    handover,
    ledger,
    log,
    nameLeftovers,
    origin,
    origins,
    registrar,
    service,
    stacks,
    takings,
    warnOfUnread,
  };
}

/** The engine calls some verbs twice for one resource. */
function oncePerWarning(engine: EngineLog): EngineLog {
  const warned = new Set<string>();
  return {
    info: (message) => engine.info(message),
    warn: (message) => {
      if (warned.size < warned.add(message).size) engine.warn(message);
    },
  };
}
