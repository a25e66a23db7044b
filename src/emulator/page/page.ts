import { createHash } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { EmulatorError } from "../errors";
import { readBody } from "../requestBody";
import { ACTIONS } from "./actions";
import { PAGE_PATH, type PageContext } from "./context";
import { renderDocument } from "./document";
import { refusalOf } from "./guard";
import { History } from "./history";
import { ICON } from "./icon";
import { SCRIPT } from "./script";
import { STYLE } from "./style";

/** Nothing is loaded from elsewhere, no inline script or style runs, and no other page can frame this one. */
const HEADERS: OutgoingHttpHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  // Not `no-referrer`, with which browsers hide the Origin of forms too.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
};

const ASSETS: ReadonlyMap<string, { readonly type: string; readonly content: string }> = new Map([
  ["style.css", { type: "text/css", content: STYLE }],
  ["script.js", { type: "text/javascript", content: SCRIPT }],
  ["icon.svg", { type: "image/svg+xml", content: ICON }],
]);

/** Returns whether a request is for the page: below its path, or a browser that opens the emulator's address. */
export function isForPage({ url = "", headers }: IncomingMessage, basePath: string): boolean {
  const [path = ""] = url.split("?", 1);
  if (path === PAGE_PATH.slice(0, -1) || path.startsWith(PAGE_PATH)) return true;
  const address = path === "/" || path === basePath || path === `${basePath}/`;
  return address && /\btext\/html\b/.test(headers.accept ?? "");
}

/** Serves the page, its script and style, and its actions. */
export function pageHandler(context: PageContext): RequestListener {
  const history = new History();

  return (request, response) => {
    response.on("error", () => undefined);
    handle(request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else reply(response, 500, `The emulator's page failed: ${message}`);
    });
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return reply(response, 403, refusal);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://emulator");
    if (!pathname.startsWith(PAGE_PATH)) return redirect(response, PAGE_PATH);
    const name = pathname.slice(PAGE_PATH.length);
    if (request.method === "POST") return act(name, request, response);
    if (request.method !== "GET" && request.method !== "HEAD") {
      return reply(response, 405, "The page supports GET and POST.", { allow: "GET, HEAD, POST" });
    }
    const asset = ASSETS.get(name);
    if (asset !== undefined) {
      return reply(response, 200, asset.content, { "content-type": `${asset.type}; charset=utf-8` });
    }
    if (name !== "") return reply(response, 404, "The emulator's page has nothing here.");
    show(request, response, Number(searchParams.get("page")) || 1);
  }

  /** Sends the page, or 304 when the browser has this version already. */
  function show(
    request: IncomingMessage,
    response: ServerResponse,
    page: number,
    alert?: EmulatorError,
  ): void {
    const { host = "" } = request.headers;
    const content = renderDocument({ context, history, host, page, alert: alert?.reason });
    const etag = `"${createHash("sha256").update(content).digest("base64url")}"`;
    const headers = {
      etag,
      "x-emulator-time": String(context.now()),
      "content-type": "text/html; charset=utf-8",
    };
    if (alert !== undefined) reply(response, 400, content, headers);
    else if (request.headers["if-none-match"] === etag) reply(response, 304, "", headers);
    else reply(response, 200, content, headers);
  }

  /** Performs an action, and sends the browser back to the page. */
  async function act(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const action = ACTIONS.get(name);
    if (action === undefined) return reply(response, 404, "The emulator's page has no such action.");
    const body = await readBody(request);
    if (body === "gone") return;
    if (body === "tooLarge") return reply(response, 413, "The form is too large.");
    try {
      redirect(response, `${PAGE_PATH}#${await action(new URLSearchParams(body.text), context)}`);
    } catch (error) {
      if (!(error instanceof EmulatorError)) throw error;
      show(request, response, 1, error);
    }
  }
}

function redirect(response: ServerResponse, location: string): void {
  reply(response, 303, "", { location });
}

function reply(
  response: ServerResponse,
  status: number,
  content: string,
  headers: OutgoingHttpHeaders = { "content-type": "text/plain; charset=utf-8" },
): void {
  response.writeHead(status, { ...HEADERS, ...headers });
  response.end(content);
}
