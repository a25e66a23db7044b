import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answer, refusal } from "./answer";
import type { Fault } from "./fault";
import type { Faults } from "./faults";
import type { Keys } from "./keys";
import type { Log } from "./log";
import type { Registry } from "./registry";
import { readBody } from "./requestBody";
import type { LoggedRequest, OpenRequest } from "./requestLog";
import { send, sendEmpty, sendMalformed, sendOversized, sendTruncated } from "./respond";
import { routeOf } from "./route";
import type { Service } from "./service";
import type { Timers } from "./timers";

export interface ExchangeOptions {
  readonly service: Service;
  readonly keys: Keys;
  readonly registry: Registry;
  readonly faults: Faults;
  readonly log: Log<LoggedRequest>;
  readonly timers: Timers;
  readonly basePath: string;
  readonly latencyMs: number;
  readonly now: () => number;
}

/**
 * One request from its arrival to its answer, with the fault it meets.
 *
 * Once its body is read it takes effect whether or not the client waits for the answer, as at any service. Half the
 * latency passes before that and half after it.
 */
export function exchange(options: ExchangeOptions) {
  const { service, keys, registry, faults, log, timers, basePath, latencyMs, now } = options;

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.sendDate = false;
    response.on("error", () => undefined);
    const { method = "", url = "" } = request;
    const route = routeOf(method, url, basePath);
    const account = keys.accountOf(request.headers) ?? null;
    const entry: OpenRequest = {
      at: now(),
      method,
      path: url,
      operation: route.operation,
      account,
      statusCode: null,
    };
    log.add(entry);
    const fault = faults.take(route.operation, route.id);
    if (fault !== undefined) entry.fault = fault.kind;
    if (fault?.kind === "refuse") return reset(request);

    const body = await readBody(request);
    if (body === "gone") return;
    if (body !== "tooLarge" && body.text !== "") entry.body = parsed(body.text);
    if (!(await timers.sleep(latencyMs / 2))) return;
    if (fault !== undefined && !takesEffect(fault)) {
      return misbehave(fault, { status: 204 });
    }
    if (fault?.kind === "late-commit" && !(await timers.sleep(fault.delayMs))) return;
    const answer = await performed(body === "tooLarge");
    if (!(await timers.sleep(latencyMs / 2))) return;
    return misbehave(fault, answer);

    async function performed(tooLarge: boolean): Promise<Answer> {
      if (tooLarge) {
        return refusal(413, "too_large", "A body may have 64 KiB.", { connection: "close" });
      }
      const result = service.perform(route, request.headers, entry.body);
      try {
        await registry.saved();
      } catch {
        return refusal(500, "not_saved", "The emulator could not write its data file.");
      }
      return result;
    }

    async function misbehave(fault: Fault | undefined, answer: Answer): Promise<void> {
      switch (fault?.kind) {
        case "reset-before":
        case "reset-after":
          return reset(request);
        case "hang-before":
        case "hang-after":
        case "late-commit":
          return;
        case "delay":
          if (await timers.sleep(fault.delayMs)) reply(answer, send);
          return;
        case "status": {
          const {
            status,
            headers = {},
            body = { error: "fault", message: "As the emulator was told." },
          } = fault;
          return reply({ status, headers, body: status === 204 || status === 304 ? undefined : body }, send);
        }
        case "truncated":
          return reply(answer, sendTruncated);
        case "malformed":
          return reply(answer, sendMalformed);
        case "empty":
          return reply(answer, sendEmpty);
        case "oversized":
          return reply(answer, (to, what) => sendOversized(to, what, fault.bytes));
        default:
          return reply(answer, send);
      }
    }

    function reply(answer: Answer, by: (to: ServerResponse, what: Answer) => unknown): void {
      if (response.destroyed) return;
      response.setHeader("Date", new Date(now()).toUTCString());
      by(response, answer);
      entry.statusCode = response.statusCode;
    }
  };
}

function takesEffect(fault: Fault): boolean {
  if (fault.kind === "status") return fault.effect === true;
  return fault.kind !== "reset-before" && fault.kind !== "hang-before";
}

function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
