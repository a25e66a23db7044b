import { WebhooksClient } from "../client";
import { type Clock, systemClock } from "../client/clock";
import type { EngineLog } from "./engine";
import { EndpointError } from "./errors";
import { type Origin, originOf } from "./origin";
import { Reader } from "./reader";
import { Registrar } from "./registrar";
import type { Settings } from "./settings";
import type { EndpointInputs, EndpointState, PendingRegistration } from "./types";

/** How many reads in a row that find nothing make it likely that the key belongs to another account. */
const suspiciousMisses = 3;

/** A wait from which on it is worth a line, in milliseconds. */
const saidFromMs = 1_000;

/**
 * One engine command over one account: the plugin is a process of its own for each provider and command (engine rule
 * 14), so what is remembered here serves one `preview`, `up`, `refresh` or `destroy`.
 */
export class Run {
  readonly client: WebhooksClient;
  readonly reader: Reader;
  readonly registrar: Registrar;
  readonly origin: Origin;
  /** Endpoints that this run made or took over: another resource in whose state they are has lost them. */
  readonly made = new Set<string>();
  /** Endpoints that this run made, took over or keeps: not to be deleted by it (engine rule 17). */
  readonly live = new Set<string>();
  /** Endpoints that a refresh has just read: the `diff` which it asks for says nothing about what is kept. */
  readonly refreshed = new Set<string>();
  /** Resources that `diff` said are replaced, by their new inputs: `create` is told nothing of them (engine rule 28). */
  readonly #replacing = new Map<string, Map<string, PendingRegistration | undefined>>();
  #misses = 0;
  readonly #warned = new Set<string>();

  constructor(
    settings: Settings,
    private readonly log: EngineLog,
    clock: Clock = systemClock,
  ) {
    const timeoutMs = settings.timeoutSeconds * 1000;
    this.client = new WebhooksClient(
      {
        baseUrl: settings.baseUrl,
        apiKey: settings.apiKey,
        ...(settings.apiKeyHeader === undefined ? {} : { apiKeyHeader: settings.apiKeyHeader }),
        ...(settings.apiKeyScheme === undefined ? {} : { apiKeyScheme: settings.apiKeyScheme }),
        timeoutMs,
        onWait: ({ operation, delayMs, statusCode }) => {
          if (delayMs >= saidFromMs)
            log.info(
              `${operation} waits ${Math.ceil(delayMs / 1000)} s: the service answered ${statusCode ?? "nothing"}`,
            );
        },
      },
      { clock },
    );
    this.origin = originOf(settings);
    this.reader = new Reader(this.client, clock);
    this.registrar = new Registrar({
      client: this.client,
      origin: this.origin,
      timeoutMs,
      live: this.live,
      info: log.info,
      warn: (message) => this.warnOnce(message),
      clock,
    });
  }

  /** Notes that a resource is about to be replaced by one with these inputs. */
  replaces(id: string, inputs: EndpointInputs, pending: PendingRegistration | undefined): void {
    const key = inputsKey(inputs);
    const replaced = this.#replacing.get(key) ?? new Map<string, PendingRegistration | undefined>();
    this.#replacing.set(key, replaced.set(id, pending));
  }

  /** Whether a resource with these inputs is about to replace another one. */
  isReplacement(inputs: EndpointInputs): boolean {
    return this.#replacing.has(inputsKey(inputs));
  }

  /** Which resource one with these inputs replaces; each is told once. */
  takeReplaced(inputs: EndpointInputs): { id: string; pending: PendingRegistration | undefined } | undefined {
    const key = inputsKey(inputs);
    const replaced = this.#replacing.get(key);
    const [first] = replaced ?? [];
    if (!replaced || !first) return undefined;
    replaced.delete(first[0]);
    if (replaced.size === 0) this.#replacing.delete(key);
    return { id: first[0], pending: first[1] };
  }

  /** The engine asks some things twice: a `check` comes again for what is replaced. */
  warnOnce(message: string): void {
    if (!this.#warned.has(message)) this.log.warn(message);
    this.#warned.add(message);
  }

  hit(): void {
    this.#misses = Number.NEGATIVE_INFINITY;
  }

  miss(): void {
    this.#misses += 1;
    if (this.#misses !== suspiciousMisses) return;
    this.log.warn(
      `none of the first ${suspiciousMisses} endpoints looked for is at the service. If that surprises you, the API key may ` +
        "belong to another account: check webhooks:apiKey before the next `pulumi up` registers them anew.",
    );
  }

  /**
   * Whether an endpoint that was registered with another key is not to be found with today's: then that is another
   * account's, not a rotated one. Another base URL is only warned of: the service may have moved.
   */
  async isElsewhere(id: string, state: EndpointState): Promise<boolean> {
    if (state.baseUrl !== this.origin.baseUrl) {
      this.warnOnce(
        `endpoints that were registered at ${state.baseUrl} are left as they are, though the base URL is ` +
          `${this.origin.baseUrl} now. If the service has moved, \`pulumi refresh\` records that. If this is another one, ` +
          "set the base URL back, destroy or rename the endpoints, and then change it.",
      );
      return false;
    }
    if (state.account === this.origin.account || (await this.reader.find(id))) return false;
    this.warnOnce(
      "endpoints that were registered with another API key are not in the account of today's, and are registered there " +
        "anew. If the key was changed by mistake, stop here and set webhooks:apiKey back.",
    );
    return true;
  }

  /** An endpoint that is not found with another key than the one it was registered with may still be in that account. */
  warnOfOtherAccount(id: string, { account }: EndpointState): void {
    if (account === this.origin.account) return;
    this.log.warn(
      `endpoint ${id} is not there with today's API key, so it counts as deleted. It was registered with another key: if ` +
        "that was of another account, delete it there.",
    );
  }

  /**
   * An endpoint registered elsewhere is not missing here.
   *
   * @throws EndpointError when the resource was recorded with another base URL than today's.
   */
  assertSameService(id: string, state: EndpointState, cause: unknown): void {
    if (state.baseUrl === this.origin.baseUrl) return;
    throw new EndpointError(
      "OTHER_BASE_URL",
      `endpoint ${id} is not at ${this.origin.baseUrl}, but it was registered at ${state.baseUrl}, so it is not taken ` +
        "for deleted. Set webhooks:baseUrl back and run `pulumi up`, or add --run-program: a plain `pulumi refresh` or " +
        "`pulumi destroy` uses the settings of the last `pulumi up`. If that service no longer exists, run `pulumi state " +
        "delete` for the resource.",
      { cause },
    );
  }
}

function inputsKey({ url, type, ip, adoptId, ifExists }: EndpointInputs): string {
  return JSON.stringify([url, type, ip, adoptId, ifExists]);
}
