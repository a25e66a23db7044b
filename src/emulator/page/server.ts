import { createHash } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { isUrl } from "../../shared/url";
import { EmulatorError } from "../errors";
import { readBody } from "../requestBody";
import { CAPTURES } from "./capture";
import { renderDocument } from "./document";
import { refusalOf } from "./guard";
import { History } from "./history";
import { SCRIPT } from "./script";
import type { PageSource } from "./source";
import { ICON, STYLE } from "./style";
import { type View, viewOf } from "./view";

/** The page of the emulator and its parts have paths below this one. The API has none there. */
export const PAGE_PATH = "/_emulator/";
/** The largest form, in bytes: a body of some 300 KiB can be sent. */
const LARGEST_FORM = 1024 * 1024;

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

/** Serves a page below a path: the document, its script and style, the captures of attempts, and the actions. */
export function pageHandler(source: PageSource, pagePath = PAGE_PATH): RequestListener {
  const history = new History();

  return (request, response) => {
    response.on("error", () => undefined);
    handle(request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent) response.destroy();
      else reply(response, 500, `The page failed: ${message}`);
    });
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return reply(response, 403, refusal);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://emulator");
    if (!pathname.startsWith(pagePath)) return redirect(response, pagePath);
    const name = pathname.slice(pagePath.length);
    if (request.method === "POST") return act(name, request, response);
    if (request.method !== "GET" && request.method !== "HEAD") {
      return reply(response, 405, "The page supports GET and POST.", { allow: "GET, HEAD, POST" });
    }
    const asset = ASSETS.get(name);
    if (asset !== undefined) {
      return reply(response, 200, asset.content, { "content-type": `${asset.type}; charset=utf-8` });
    }
    const [, number, capture] = /^attempts\/(\d{1,15})\/(\w+)$/.exec(name) ?? [];
    if (number !== undefined && capture !== undefined) return sendCapture(response, Number(number), capture);
    if (name !== "") return reply(response, 404, "The page has nothing here.");
    show(request, response, viewOf(searchParams));
  }

  /** Sends a capture as plain text or as a file, never as something that a browser would run. */
  function sendCapture(response: ServerResponse, number: number, name: string): void {
    const isWanted = (attempt: { readonly number: number }) => attempt.number === number;
    const attempt = source.logged().findLast(isWanted) ?? [...source.open()].find(isWanted);
    const capture = attempt && attempt.body !== null && CAPTURES.get(name)?.(attempt);
    if (!capture) {
      reply(response, 404, "This attempt is not in the log any more, or its request was not read.");
      return;
    }
    const { type, content, fileName } = capture;
    const disposition = fileName === undefined ? "inline" : `attachment; filename="${fileName}"`;
    reply(response, 200, content, { "content-type": type, "content-disposition": disposition });
  }

  /** Sends the page, or 304 when the browser has this version already. */
  function show(request: IncomingMessage, response: ServerResponse, view: View, alert?: EmulatorError): void {
    const { host = "" } = request.headers;
    const content = renderDocument({ source, history, host, view, alert: alert?.reason });
    const etag = `"${createHash("sha256").update(content).digest("base64url")}"`;
    const headers = {
      etag,
      "x-emulator-time": String(source.now()),
      "content-type": "text/html; charset=utf-8",
    };
    if (alert !== undefined) reply(response, 400, content, headers);
    else if (request.headers["if-none-match"] === etag) reply(response, 304, "", headers);
    else reply(response, 200, content, headers);
  }

  /** Performs an action, and sends the browser back to the page. */
  async function act(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const action = source.actions.get(name);
    if (action === undefined) return reply(response, 404, "The page has no such action.");
    const body = await readBody(request, LARGEST_FORM);
    if (body === "gone") return;
    if (body === "tooLarge") return reply(response, 413, "The form is too large.");
    try {
      const section = await action(new URLSearchParams(body.text));
      redirect(response, `${pagePath}${queryBefore(request)}#${section}`);
    } catch (error) {
      if (!(error instanceof EmulatorError)) throw error;
      show(request, response, viewOf(new URLSearchParams(queryBefore(request))), error);
    }
  }

  /** Returns the query of the page that sent a form, so that its filter stays. */
  function queryBefore({ headers }: IncomingMessage): string {
    const { referer = "" } = headers;
    return isUrl(referer) ? new URL(referer).search : "";
  }
}

function redirect(response: ServerResponse, location: string): void {
  reply(response, 303, "", { location });
}

function reply(
  response: ServerResponse,
  status: number,
  content: string | Buffer,
  headers: OutgoingHttpHeaders = { "content-type": "text/plain; charset=utf-8" },
): void {
  response.writeHead(status, { ...HEADERS, ...headers });
  response.end(content);
}
