import type { IncomingMessage, ServerResponse } from "node:http";
import { parseJson } from "../shared/json";
import { accountOf, perform, refusal, routeOf, type ServiceOptions } from "./api";
import { type Fault, type Faults, takesEffect } from "./faults";
import { type Answer, headersOf, isOwnHost, readBody, send, textOf } from "./http";
import type { Log, LoggedRequest } from "./log";
import type { Timers } from "./timers";

/** How long an oversized answer is by default, in bytes. */
const OVERSIZE = 32 * 1024 * 1024;
const STATUS_BODY = { error: "fault", message: "This is a fault that was planted in the emulator." };
const MISDIRECTED = refusal(
  421,
  "misdirected",
  "The emulator answers at IP addresses, at names without a dot, and at its host.",
);

/** Replaces an answer of the API, to emulate an odd service. The operation has taken effect. */
export type AnswerHook = (request: LoggedRequest, answer: Answer) => Answer | Promise<Answer>;

interface ExchangeOptions extends ServiceOptions {
  readonly host: string;
  readonly answer: AnswerHook;
  readonly faults: Faults;
  readonly requests: Log<LoggedRequest>;
  readonly timers: Timers;
  readonly warn: (message: string) => void;
}

/** The log's entry of a request that is still being handled. */
type Entry = { -readonly [Field in keyof LoggedRequest]: LoggedRequest[Field] };

/**
 * Handles API requests: applies a fault if one matches, performs the operation, and answers. Once the body is read, the operation takes
 * effect even if the client disconnects, as at any service.
 */
export function exchange(options: ExchangeOptions) {
  const { host, faults, requests, timers, now, warn } = options;

  return (request: IncomingMessage, response: ServerResponse): void => {
    response.sendDate = false;
    response.on("error", () => undefined);
    answerTo(request, response).catch((error: Error) => {
      if (request.destroyed && !request.complete) return;
      warn(error.message);
      if (response.headersSent) response.destroy();
      else send(response, refusal(500, "emulator_failed", error.message));
    });
  };

  async function answerTo(request: IncomingMessage, response: ServerResponse) {
    const { method = "", url: path = "", headers } = request;
    const route = routeOf(method, path);
    const account = accountOf(headers, options) ?? null;
    const entry: Entry = { at: now(), method, path, operation: route.operation, account, statusCode: null };
    requests.add(entry);
    if (!isOwnHost(request, host)) {
      entry.statusCode = MISDIRECTED.status;
      return send(response, MISDIRECTED);
    }
    const fault = faults.take(route.operation, route.id);
    if (fault !== undefined) entry.fault = fault.kind;
    if (fault?.kind === "refuse") return reset(request);
    const body = await readBody(request);
    if (body !== "") entry.body = parseJson(body) ?? body;

    if (fault?.kind === "late-commit" && !(await timers.sleep(fault.delayMs))) return;
    let answer: Answer = { status: 204 };
    if (takesEffect(fault))
      answer = await options.answer(entry, perform(options, route, account, entry.body));
    if (fault?.kind === "delay" && !(await timers.sleep(fault.delayMs))) return;

    if (response.destroyed) return;
    response.setHeader("Date", new Date(now()).toUTCString());
    answerWith(fault, answer, request, response);
    if (response.headersSent) entry.statusCode = response.statusCode;
  }
}

/** Answers as a fault wants it. A 204 gets a body if the fault is about the body. */
function answerWith(
  fault: Fault | undefined,
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const whole = answer.status === 204 ? { ...answer, status: 200, body: { deleted: true } } : answer;
  const text = textOf(whole);
  const half = text.slice(0, Math.ceil(text.length / 2));
  switch (fault?.kind) {
    case "reset-before":
    case "reset-after":
      return reset(request);
    case "hang-before":
    case "hang-after":
    case "late-commit":
      return;
    case "status": {
      const { status, headers = {}, body = STATUS_BODY } = fault;
      return send(response, { status, headers, body });
    }
    case "malformed":
      return send(response, { ...whole, body: half });
    case "empty":
      return send(response, { ...whole, body: "" });
    case "truncated":
      response.writeHead(whole.status, headersOf(whole));
      response.write(half, () => response.socket?.destroySoon());
      return;
    case "oversized":
      // Without a content-length, which would announce the size.
      response.writeHead(whole.status, { ...whole.headers, "content-type": "application/json" });
      response.write(text);
      response.end(" ".repeat(Math.max(0, (fault.bytes ?? OVERSIZE) - Buffer.byteLength(text))));
      return;
    default:
      return send(response, answer);
  }
}

function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}
