import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { dropBody, LARGEST_BODY, readBody } from "../shared/body";
import { printable } from "../shared/escape";
import { parseJson } from "../shared/json";
import { accountOf, perform, refusal, routeOf } from "./api";
import { FAULTS, type Faults } from "./faults";
import { type EmulatedResponse, isOwnHost, send, textOf } from "./http";
import type { LoggedRequest } from "./loggedRequest";
import type { Parts } from "./options";

const OVERSIZE_BYTES = 32 * 1024 * 1024;
const STATUS_BODY = { error: "fault", message: "This is a fault of the emulator." };
const TOO_LARGE = "The body is longer than 1 MiB.";
const MISDIRECTED = "The emulator responds at IP addresses, at names without a dot, and at its host.";

/** The log's entry of a request that is still being handled. */
type Entry = { -readonly [Field in keyof LoggedRequest]: LoggedRequest[Field] };

/**
 * Handles API requests: applies a fault if one matches, performs the operation, and responds. Once the body is read, the operation takes
 * effect even if the client disconnects, as at any service.
 */
export function exchange(parts: Parts) {
  const { host, faults, requests, closing, now, warn } = parts;

  return (request: IncomingMessage, response: ServerResponse): void => {
    response.sendDate = false;
    response.on("error", () => undefined);
    respond(request, response).catch((error: Error) => {
      if (closing.aborted || (request.destroyed && !request.complete)) return;
      warn(printable(error.message));
      if (response.headersSent) response.destroy();
      else reply(request, response, refusal(500, "emulator_failed", error.message));
    });
  };

  async function respond(request: IncomingMessage, response: ServerResponse) {
    const { method = "", url: path = "", headers } = request;
    const route = routeOf(method, path);
    const account = accountOf(headers, parts.keys) ?? null;
    const entry: Entry = { at: now(), method, path, operation: route.operation, account, status: null };
    requests.add(entry);
    const refuse = (refused: EmulatedResponse) => {
      entry.status = refused.status;
      reply(request, response, refused);
    };
    if (!isOwnHost(request, host)) return refuse(refusal(421, "misdirected", MISDIRECTED));
    const fault = faults.take(route.operation, route.id);
    if (fault !== undefined) entry.fault = fault.kind;
    const { kind, delayMs } = fault ?? {};
    if (kind === "refuse") return request.socket.resetAndDestroy();
    // Anybody may send a body. Only one that comes with a key is read.
    const body = account === null ? Buffer.alloc(0) : await readBody(request);
    if (body.length > LARGEST_BODY) return refuse(refusal(413, "too_large", TOO_LARGE));
    const text = body.toString();
    if (text !== "") entry.body = parseJson(text) ?? text;

    if (kind === "late-commit") await wait(delayMs, undefined, { signal: closing });
    const takesEffect = fault === undefined || (fault.effect ?? FAULTS[fault.kind].effect);
    const right = takesEffect
      ? await parts.answer(entry, perform(parts, route, account, entry.body))
      : { status: 204 };
    if (kind === "delay") await wait(delayMs, undefined, { signal: closing });

    if (response.destroyed || kind === "late-commit" || kind?.startsWith("hang-")) return;
    if (kind?.startsWith("reset-")) return request.socket.resetAndDestroy();
    response.setHeader("Date", new Date(now()).toUTCString());
    reply(request, response, fault === undefined ? right : garble(fault, right));
    entry.status = response.statusCode;
  }
}

/** Responds, and ends the connection of a body that has no end. */
function reply(request: IncomingMessage, response: ServerResponse, answer: EmulatedResponse): void {
  send(response, answer);
  dropBody(request);
}

/** Returns what a fault makes of the right response. A 204 gets a body if the fault is about the body. */
function garble(fault: NonNullable<ReturnType<Faults["take"]>>, right: EmulatedResponse): EmulatedResponse {
  const whole = right.status === 204 ? { ...right, status: 200, body: { deleted: true } } : right;
  const { headers, body = "" } = whole;
  const content = textOf(body);
  const half = content.slice(0, Math.ceil(content.length / 2));
  switch (fault.kind) {
    case "status":
      return { body: STATUS_BODY, ...fault };
    case "malformed":
      return { ...whole, body: half };
    case "empty":
      return { ...whole, body: "" };
    case "truncated": {
      const length = String(Buffer.byteLength(content));
      return { ...whole, headers: { ...headers, "content-length": length, connection: "close" }, body: half };
    }
    case "oversized": {
      // Without a content-length, which would announce the size.
      const padded = content.padEnd(OVERSIZE_BYTES);
      return { ...whole, headers: { ...headers, "transfer-encoding": "chunked" }, body: padded };
    }
    default:
      return right;
  }
}
