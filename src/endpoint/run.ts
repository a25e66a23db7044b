import { WebhooksClient } from "../client";
import type { EngineLog } from "./engine";
import { EndpointError } from "./errors";
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
  readonly baseUrl: string;
  /** Endpoints that this run made, took over or keeps: not to be deleted by it (engine rule 17). */
  readonly live = new Set<string>();
  /** Endpoints that a refresh has just read: the `diff` which it asks for says nothing about what is kept. */
  readonly refreshed = new Set<string>();
  /** Resources that `diff` said are replaced, by their new inputs: `create` is told nothing of them (engine rule 28). */
  readonly #replacing = new Map<string, Map<string, PendingRegistration | undefined>>();
  #misses = 0;

  constructor(
    settings: Settings,
    private readonly log: EngineLog,
  ) {
    const timeoutMs = settings.timeoutSeconds * 1000;
    this.client = new WebhooksClient({
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
    });
    this.baseUrl = canonicalBase(settings.baseUrl);
    this.reader = new Reader(this.client);
    this.registrar = new Registrar({ client: this.client, baseUrl: this.baseUrl, timeoutMs, warn: log.warn });
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
   * An endpoint registered elsewhere is not missing here.
   *
   * @throws EndpointError when the resource was recorded with another base URL than today's.
   */
  assertSameService(id: string, state: EndpointState, cause: unknown): void {
    if (state.baseUrl === this.baseUrl) return;
    throw new EndpointError(
      "OTHER_BASE_URL",
      `endpoint ${id} is not at ${this.baseUrl}, but it was registered at ${state.baseUrl}, so it is neither gone nor ` +
        "done with. Set webhooks:baseUrl to where it is; if that service no longer exists, run `pulumi state delete`.",
      { cause },
    );
  }
}

/** A base URL in one spelling, as the state records it. */
export function canonicalBase(baseUrl: string): string {
  return new URL(baseUrl).href.replace(/\/+$/, "");
}

function inputsKey({ url, type, ip, adoptId, ifExists }: EndpointInputs): string {
  return JSON.stringify([url, type, ip, adoptId, ifExists]);
}
