import type { Dispatcher } from "undici";
import { type Endpoint, WebhookError, WebhooksClient } from "../../client";
import { type Headers, MalformedAnswer, parseBody, serverTimeOf } from "../../client/answer";
import type { Clock } from "../../client/clock";
import { openDispatcher } from "../../client/dispatcher";
import { resolveOptions } from "../../client/options";
import { parseEndpoint, parseList } from "../../client/parse";
import { isSuccess } from "../../shared/isSuccess";
import { CliError } from "../errors";
import type { Account } from "../service";

/** One request, and what came back. */
export interface Exchange {
  readonly method: string;
  /** Below the base URL. */
  readonly path: string;
  /** Undefined: there was no response. */
  status: number | undefined;
  headers: Headers;
  /** When the response began, on the clock that never goes back. */
  answeredAt: number;
  /** The body, in parts. */
  readonly chunks: Buffer[];
  /** Whether the response broke off. */
  isCut: boolean;
  /** True if it was sent with the wrong key. */
  readonly isStranger: boolean;
}

/** What an operation led to, and the exchanges with its method. */
export interface Performed<T> {
  readonly exchanges: readonly Exchange[];
  readonly value?: T;
  readonly error?: WebhookError | CliError;
}

/** An account's service, whose responses are kept. */
export class Wire {
  readonly exchanges: Exchange[] = [];
  readonly account: Account;
  /** The same with a key that the service does not know. */
  readonly stranger: WebhooksClient;
  readonly #dispatcher: Dispatcher;
  readonly #closed = new AbortController();

  constructor(account: Account, { clock, wrongKey }: { clock: Clock; wrongKey: string }) {
    const { connection, timeoutMs } = account;
    const resolved = resolveOptions({ ...connection, timeoutMs });
    const way = openDispatcher(resolved, { env: process.env, closed: this.#closed.signal });
    const root = resolved.baseUrl.pathname.replace(/\/$/, "");
    this.#dispatcher = way;
    const dispatcher = way.compose((dispatch) => (options, handler) => {
      const { method, path, headers } = options;
      const isStranger = JSON.stringify(headers).includes(wrongKey);
      const exchange: Exchange = {
        ...{ method, path: path.slice(root.length), chunks: [], isStranger },
        ...{ status: undefined, headers: {}, answeredAt: 0, isCut: false },
      };
      this.exchanges.push(exchange);
      return dispatch(options, recording(exchange, handler, clock));
    });
    const open = (apiKey: string) =>
      new WebhooksClient({ ...connection, apiKey, timeoutMs, dispatcher }, { clock });
    this.account = { ...account, client: open(connection.apiKey) };
    this.stranger = open(wrongKey);
  }

  /** Runs an operation, and returns what it led to. */
  async perform<T>(method: Dispatcher.HttpMethod, work: () => Promise<T>): Promise<Performed<T>> {
    const from = this.exchanges.length;
    const exchanges = () => this.exchanges.slice(from).filter((each) => each.method === method);
    try {
      return { value: await work(), exchanges: exchanges() };
    } catch (error) {
      if (!(error instanceof WebhookError || error instanceof CliError)) throw error;
      return { error, exchanges: exchanges() };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.account.client.close(), this.stranger.close()]);
    await this.#dispatcher.destroy();
    this.#closed.abort();
  }
}

/** Passes everything on, and keeps it. */
function recording(
  exchange: Exchange,
  handler: Dispatcher.DispatchHandler,
  clock: Clock,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart(controller, status, headers, message) {
      if (status >= 200) Object.assign(exchange, { status, headers, answeredAt: clock.now() });
      handler.onResponseStart?.(controller, status, headers, message);
    },
    onResponseData(controller, chunk) {
      exchange.chunks.push(chunk);
      handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError(controller, error) {
      exchange.isCut = true;
      handler.onResponseError?.(controller, error);
    },
  };
}

/** Returns true for a response that no working service gives. A response to a delete needs no body. */
export function isBroken({ method, status, isCut, headers }: Exchange): boolean {
  if (status === undefined || (isCut && method !== "DELETE")) return true;
  const isBusy = status === 503 && headers["retry-after"] !== undefined;
  return status === 408 || (status >= 500 && !isBusy);
}

/** Returns true for a response that refuses a request, and does not just ask for a pause. */
export function isRefused({ status = 0 }: Exchange): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

export function isRedirect({ status = 0 }: Exchange): boolean {
  return status >= 300 && status < 400;
}

export function mentionsSecret({ chunks }: Exchange): boolean {
  return /whsec_[\w+/=-]{8}/.test(Buffer.concat(chunks).toString("latin1"));
}

export function hasDate({ headers }: Exchange): boolean {
  return serverTimeOf(headers) !== null;
}

/** Returns the service's time in the last response, in milliseconds since 1970; null if it does not tell it. */
export function lastTime(exchanges: readonly Exchange[]): number | null {
  return serverTimeOf(exchanges.at(-1)?.headers ?? {});
}

/** Returns the endpoint in the last response, or undefined if there is none that can be read. */
export function endpointIn({ exchanges }: Performed<unknown>): Endpoint | undefined {
  try {
    return parseEndpoint(parseBody(Buffer.concat(exchanges.at(-1)?.chunks ?? [])));
  } catch {
    return undefined;
  }
}

/** Describes what came back, such as "GET /webhooks: 500, then 200". */
export function described(exchanges: readonly Exchange[]): string {
  const [first] = exchanges;
  if (first === undefined) return "nothing was sent";
  const statuses = exchanges.map(
    ({ status, isCut }) => `${status ?? "no response"}${status !== undefined && isCut ? ", cut off" : ""}`,
  );
  return `${first.method} ${first.path}: ${statuses.join(", then ")}`;
}

/** Describes what is wrong with the last response of an operation that failed. Quotes nothing of it. */
export function problemOf({ exchanges, error }: Performed<unknown>): string {
  const last = exchanges.at(-1);
  const { code = "" } = error ?? {};
  // A registration whose response cannot be read counts as lost.
  const isRead = code === "MALFORMED_RESPONSE" || (code === "REGISTRATION_LOST" && isSuccess(last?.status));
  if (last === undefined || !isRead) return code;
  try {
    const answer = parseBody(Buffer.concat(last.chunks));
    if (last.method === "GET" && last.path === "/webhooks") parseList(answer, last.headers);
    else parseEndpoint(answer);
    return code === "MALFORMED_RESPONSE" ? "it is not the endpoint that was asked for" : code;
  } catch (problem) {
    return problem instanceof MalformedAnswer ? problem.message : code;
  }
}
