import { type Wait, WebhookError } from "../client";
import type { Clock } from "../client/clock";
import { DuplicateCheck } from "./duplicateCheck";
import type { Engine, EngineLog } from "./engine";
import { Handover } from "./handover";
import { Ledger } from "./ledger";
import { type Origin, originOf } from "./origin";
import { OriginCheck } from "./originCheck";
import { Queue } from "./queue";
import { Registrar } from "./registrar";
import { Service } from "./service";
import { type Configuration, type ResolvedSettings, resolveSettings } from "./settings";
import { patienceMsFor } from "./settlement";
import { Settler } from "./settler";
import { Witnesses } from "./witness/witnesses";

export interface RunOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly engine: Engine;
  readonly clock: Clock;
}

/** How long a wait must be to be worth a line, in milliseconds. */
const WORTH_A_LINE_MS = 1_000;

/**
 * One engine command over one account, with its parts. The plugin is a process of its own for each provider and command
 * (engine rule 14), so what is in memory serves one `preview`, `up`, `refresh` or `destroy`.
 */
export class Run {
  readonly ledger = new Ledger();
  readonly handover = new Handover();
  readonly queue = new Queue();
  readonly settler = new Settler(this);
  readonly registrar = new Registrar(this);
  readonly duplicates = new DuplicateCheck(this);
  readonly origins = new OriginCheck(this);
  readonly witnesses: Witnesses;
  readonly clock: Clock;
  readonly engine: Engine;
  readonly environment: NodeJS.ProcessEnv;
  /** Shows each warning once: the engine calls some verbs twice for one resource. */
  readonly log: EngineLog;
  readonly service: Service;
  /** Where this run registers. */
  readonly origin: Origin;
  /** How long one operation may take, in milliseconds. */
  readonly timeoutMs: number;
  /** How old a registration without an answer must be before it counts as never made, in milliseconds. */
  readonly patienceMs: number;

  constructor(
    { settings, showResponses, providerName }: ResolvedSettings,
    { engine, environment, clock }: RunOptions,
  ) {
    const { timeoutSeconds, ...connection } = settings;
    this.engine = engine;
    this.environment = environment;
    this.clock = clock;
    this.timeoutMs = timeoutSeconds * 1000;
    this.patienceMs = patienceMsFor(this.timeoutMs);
    this.origin = originOf({ ...connection, providerName });
    const warned = new Set<string>();
    this.log = {
      info: (message) => engine.info(message),
      warn: (message) => {
        if (warned.size < warned.add(message).size) engine.warn(message);
      },
    };
    const onWait = ({ operation, delayMs, statusCode }: Wait) => {
      if (delayMs < WORTH_A_LINE_MS) return;
      const answer = statusCode === undefined ? "did not answer" : `answered ${statusCode}`;
      this.log.info(`${operation} waits ${Math.ceil(delayMs / 1000)} s: the service ${answer}`);
    };
    this.service = new Service(
      { ...connection, timeoutMs: this.timeoutMs, onWait },
      { clock, log: this.log, showResponses, cancelled: engine.cancelled },
    );
    this.witnesses = new Witnesses(this);
  }
}

/** Starts a run with the settings of a configuration and the environment, or returns what is wrong with them. */
export function startRun(
  configuration: Configuration,
  options: RunOptions,
): { run: Run } | { problems: string[] } {
  const resolved = resolveSettings(configuration, options.environment);
  if ("problems" in resolved) return resolved;
  try {
    return { run: new Run(resolved, options) };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { problems: [error.reason] }; // the environment's proxy is invalid
  }
}
