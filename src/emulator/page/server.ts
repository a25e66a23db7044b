import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { readBody } from "../http";
import { captureFile } from "./attempts";
import { type DeliverySource, deliveriesTab } from "./deliveries";
import { refusalOf } from "./guard";
import type { Html } from "./html";
import { renderPage, type View, viewOf } from "./layout";
import { SCRIPT } from "./script";
import { ICON, STYLE } from "./style";

/** The page of the emulator and its parts have paths below this one. The API has none there. */
export const PAGE_PATH = "/_emulator/";

/** Nothing is loaded from elsewhere, no inline script or style runs, and no other page can frame this one. */
const HEADERS: OutgoingHttpHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  // Not `no-referrer`, with which browsers hide the Origin of forms too.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};
const TEXT = "text/plain; charset=utf-8";
/** How long an action may take before the next page is shown, in milliseconds. It goes on by itself. */
const PATIENCE_MS = 300;

const ASSETS: ReadonlyMap<string, readonly [type: string, content: string]> = new Map([
  ["style.css", ["text/css", STYLE]],
  ["script.js", ["text/javascript", SCRIPT]],
  ["icon.svg", ["image/svg+xml", ICON]],
]);

/** Performs an action. An error that it throws is shown. */
export type Action = (form: URLSearchParams) => unknown;

/** What a page has besides deliveries. */
interface PageParts {
  readonly toolbar?: Html;
  readonly tabs?: readonly {
    readonly id: string;
    readonly title: string;
    /** @param origin the address at which the browser reached the page, without a path */
    readonly render: (view: View, origin: string) => Html;
  }[];
  /** By the last part of their path. */
  readonly actions?: Readonly<Record<string, Action>>;
}

/** Returns whether a request is for the page: below its path, or a browser that opens the emulator's address. */
export function isForPage({ url = "", headers }: IncomingMessage): boolean {
  const [path = ""] = url.split("?", 1);
  if (path.startsWith(PAGE_PATH)) return true;
  return path === "/" && /\btext\/html\b/.test(headers.accept ?? "");
}

/** Serves a page of deliveries below a path, to browsers on this machine. */
export function deliveryPage(
  source: DeliverySource,
  pagePath = PAGE_PATH,
  parts: PageParts = {},
): RequestListener {
  const { title, replay, tamper, clear } = source;
  const deliveries = { id: "", title: "Deliveries", render: (view: View) => deliveriesTab(source, view) };
  const tabs = [deliveries, ...(parts.tabs ?? [])];
  const attemptOf = (number: string | null) => {
    const found = source.attempts().findLast((attempt) => String(attempt.number) === number);
    if (found === undefined) throw new Error("This attempt is not in the log any more.");
    return found;
  };
  const all: Readonly<Record<string, Action | undefined>> = {
    replay: replay && ((form) => replay(attemptOf(form.get("target")))),
    tamper: tamper && ((form) => tamper(attemptOf(form.get("target")))),
    clear,
    ...parts.actions,
  };
  const actions = new Map(Object.entries(all));

  return (request, response) => {
    response.on("error", () => undefined);
    handle(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy();
      else reply(response, 500, `The page failed: ${error.message}`);
    });
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return reply(response, 403, refusal);
    const { pathname, searchParams, search } = new URL(request.url ?? "", "http://emulator");
    if (!pathname.startsWith(pagePath)) return reply(response, 303, "", { location: pagePath });
    const name = pathname.slice(pagePath.length);
    const action = actions.get(name);
    const [type, content] = ASSETS.get(name) ?? [];
    const [, number] = /^attempts\/(\d+)$/.exec(name) ?? [];
    if (request.method === "POST" && action !== undefined) {
      const problem = await problemOf(action, request);
      if (problem !== undefined) return show(request, response, viewOf(searchParams), problem);
      reply(response, 303, "", { location: `${pagePath}${search}` });
    } else if (content !== undefined) {
      reply(response, 200, content, { "content-type": type });
    } else if (number !== undefined) {
      const disposition = `attachment; filename="delivery-${number}.json"`;
      // As plain text, never as something that a browser would run.
      reply(response, 200, captureFile(attemptOf(number)), { "content-disposition": disposition });
    } else if (name !== "") {
      reply(response, 404, "The page has nothing here.");
    } else show(request, response, viewOf(searchParams));
  }

  function show(request: IncomingMessage, response: ServerResponse, view: View, alert?: string): void {
    const tab = tabs.find(({ id }) => id === view.tab) ?? deliveries;
    const origin = `http://${request.headers.host}`;
    const content = tab.render(view, origin);
    const page = renderPage({ title, origin, tabs, view, toolbar: parts.toolbar, content, alert });
    reply(response, alert === undefined ? 200 : 400, page, { "content-type": "text/html; charset=utf-8" });
  }
}

/** Performs an action, and returns why it failed, if it did so soon. */
async function problemOf(action: Action, request: IncomingMessage): Promise<string | undefined> {
  const work = (async () => action(new URLSearchParams(await readBody(request))))();
  const ended = work.then(
    () => undefined,
    (error: Error) => error.message,
  );
  return Promise.race([ended, wait(PATIENCE_MS, undefined, { ref: false })]);
}

function reply(
  response: ServerResponse,
  status: number,
  content: string,
  headers: OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, { ...HEADERS, "content-type": TEXT, ...headers });
  response.end(content);
}
