import type { IncomingMessage, ServerResponse } from "node:http";
import { parseJson } from "../shared/json";
import type { Storage } from "./dataFile";
import type { Faults } from "./faults";
import { isOwnHost } from "./hosts";
import type { Keys } from "./keys";
import type { Log, LoggedRequest, OpenRequest } from "./log";
import { mannerOf, takesEffect } from "./misbehave";
import { readBody } from "./requestBody";
import { type Answer, refusal, send } from "./respond";
import { routeOf } from "./route";
import type { Service } from "./service";
import type { Timers } from "./timers";

interface ExchangeOptions {
  /** The names of this host, besides loopback names. */
  readonly hosts: readonly string[];
  readonly service: Service;
  readonly keys: Keys;
  readonly storage: Storage;
  readonly faults: Faults;
  readonly log: Log<LoggedRequest>;
  readonly timers: Timers;
  readonly basePath: string;
  readonly latencyMs: number;
  readonly now: () => number;
}

const TOO_LARGE = refusal(413, "too_large", "The body is larger than 64 KiB.", { connection: "close" });
const NOT_SAVED = refusal(500, "not_saved", "The emulator could not write its data file.");
const MISDIRECTED = refusal(
  421,
  "misdirected",
  "The emulator answers only at its own hosts. Add this one to its allowedHosts.",
);
const NO_EFFECT: Answer = { status: 204 };

/**
 * Handles API requests: applies a fault if one matches, performs the operation, and answers.
 *
 * Once the body is read, the operation takes effect even if the client disconnects, as at any service. Half of the
 * latency passes before the effect and half after it.
 */
export function exchange(options: ExchangeOptions) {
  const { hosts, service, keys, storage, faults, log, timers, basePath, latencyMs, now } = options;

  return (request: IncomingMessage, response: ServerResponse): void => {
    response.sendDate = false;
    response.on("error", () => undefined);
    run(request, response).catch((error: Error) => {
      const message = `The emulator could not answer this request: ${error.message}`;
      if (response.headersSent) response.destroy();
      else send(response, refusal(500, "emulator_failed", message));
    });
  };

  async function run(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "" } = request;
    const route = routeOf(method, path, basePath);
    const { operation } = route;
    const account = keys.accountOf(request.headers) ?? null;
    const entry: OpenRequest = { at: now(), method, path, operation, account, statusCode: null };
    log.add(entry);
    if (!isOwnHost(request, hosts)) {
      entry.statusCode = MISDIRECTED.status;
      return send(response, MISDIRECTED);
    }
    const fault = faults.take(operation, route.id);
    if (fault !== undefined) entry.fault = fault.kind;
    if (fault?.kind === "refuse") return reset(request);

    const body = await readBody(request);
    if (body === "gone") return;
    if (body !== "tooLarge" && body.text !== "") entry.body = parseJson(body.text) ?? body.text;

    const perform = async (): Promise<Answer> => {
      if (body === "tooLarge") return TOO_LARGE;
      const answer = service.perform(route, request.headers, entry.body);
      return storage.saved().then(
        () => answer,
        () => NOT_SAVED,
      );
    };
    if (!(await timers.sleep(latencyMs / 2 + (fault?.kind === "late-commit" ? fault.delayMs : 0)))) return;
    const answer = takesEffect(fault) ? await perform() : NO_EFFECT;
    if (!(await timers.sleep(latencyMs / 2 + (fault?.kind === "delay" ? fault.delayMs : 0)))) return;

    const manner = mannerOf(fault);
    if (manner === "silence" || response.destroyed) return;
    if (manner === "reset") return reset(request);
    response.setHeader("Date", new Date(now()).toUTCString());
    manner(response, answer);
    entry.statusCode = response.statusCode;
  }
}

function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}
