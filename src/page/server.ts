import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { dropBody, LARGEST_BODY, readBody } from "../shared/body";
import { captureFile } from "../shared/captureFile";
import { addressOf, type View } from "./components";
import { failedIn, headersOf } from "./deliveries";
import { deliveriesTab } from "./deliveriesTab";
import { isTrusted } from "./guard";
import { html } from "./html";
import { SCRIPT } from "./script";
import type { PageSource } from "./source";
import { ICON, STYLE } from "./style";

/** The page and its parts have paths below this one, at `listen`, too. Neither the emulated API nor a receiver has one there. */
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
const REFUSAL =
  "This page is only for the machine that it runs on, by a loopback address and without a proxy. It accepts actions only from itself.";
/** How long an action may take before the next page is shown, in milliseconds. It goes on by itself. */
const LONGEST_WAIT_MS = 300;

const ASSETS: ReadonlyMap<string, readonly [type: string, content: string]> = new Map([
  ["style.css", ["text/css", STYLE]],
  ["script.js", ["text/javascript", SCRIPT]],
  ["icon.svg", ["image/svg+xml", ICON]],
]);

/** Returns whether a request is for the page: below its path, or a browser that opens the address of the emulator or of `listen`. */
export function isForPage({ url = "", headers }: IncomingMessage): boolean {
  const [path = ""] = url.split("?", 1);
  return path.startsWith(PAGE_PATH) || (path === "/" && /\btext\/html\b/.test(headers.accept ?? ""));
}

/** Serves a page of deliveries, to browsers on this machine. */
export function deliveryPage(source: PageSource): RequestListener {
  const { title, toolbar } = source;
  const actions = new Map(Object.entries(source.actions));
  const tabs = [{ id: "", title: "Deliveries" }, ...(source.tabs ?? [])];
  const attemptOf = (number: string | null) => {
    const found = source.attempts().findLast((attempt) => String(attempt.number) === number);
    if (found === undefined) throw new Error("This attempt is not in the log any more.");
    return found;
  };

  return (request, response) => {
    response.on("error", () => undefined);
    handle(request, response)
      .catch((error: Error) => {
        if (response.headersSent) response.destroy();
        else reply(response, 500, `The page failed: ${error.message}`);
      })
      .finally(() => dropBody(request));
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isTrusted(request)) return reply(response, 403, REFUSAL);
    const { pathname, searchParams, search } = new URL(request.url ?? "", "http://page");
    if (!pathname.startsWith(PAGE_PATH)) return reply(response, 303, "", { location: PAGE_PATH });
    const name = pathname.slice(PAGE_PATH.length);
    const show = (status: number, alert?: string) => {
      const page = render(Object.fromEntries(searchParams), `http://${request.headers.host}`, alert);
      reply(response, status, page, { "content-type": "text/html; charset=utf-8" });
    };
    const action = actions.get(name);
    const [type, content] = ASSETS.get(name) ?? [];
    const [, number] = /^attempts\/(\d+)$/.exec(name) ?? [];
    if (request.method === "POST" && action !== undefined) {
      const body = await readBody(request);
      if (body.length > LARGEST_BODY) return reply(response, 413, "The form is longer than 1 MiB.");
      const form = new URLSearchParams(body.toString());
      const work = async () =>
        void (await action(
          form,
          () => attemptOf(form.get("target")),
          () => failedIn(source.attempts()),
        ));
      const failure = work().catch(({ message }: Error) => message);
      const problem = await Promise.race([failure, wait(LONGEST_WAIT_MS, undefined, { ref: false })]);
      if (problem !== undefined) return show(400, problem);
      reply(response, 303, "", { location: `${PAGE_PATH}${search}` });
    } else if (content !== undefined) {
      reply(response, 200, content, { "content-type": type });
    } else if (number !== undefined) {
      const disposition = `attachment; filename="delivery-${number}.json"`;
      const attempt = attemptOf(number);
      const file = captureFile({ at: attempt.at, headers: headersOf(attempt), body: attempt.body ?? "" });
      // As plain text, never as something that a browser would run.
      reply(response, 200, file, { "content-disposition": disposition });
    } else if (name === "") show(200);
    else reply(response, 404, "The page has nothing here.");
  }

  function render(view: View, origin: string, alert?: string): string {
    const current = source.tabs?.find(({ id }) => id === view.tab);
    const links = tabs.map(({ id, title }) => {
      const isCurrent = id === (current?.id ?? "") && html` aria-current="page"`;
      return html`<a href="${addressOf({ tab: id })}"${isCurrent}>${title}</a>`;
    });
    const { markup } = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="./icon.svg">
<link rel="stylesheet" href="./style.css">
<script src="./script.js" defer></script>
</head>
<body>
<header>
<img src="./icon.svg" alt="" width="34" height="34">
<div class="grow"><h1>${title}</h1><p class="soft"><code>${origin}</code> <span id="live" role="status"></span></p></div>
${toolbar}
</header>
${tabs.length > 1 && html`<nav aria-label="Tabs">${links}</nav>`}
<main>
${alert !== undefined && html`<p role="alert">${alert}</p>`}
${current?.render() ?? deliveriesTab(source, view)}
</main>
</body>
</html>`;
    return `<!doctype html>\n${markup}`;
  }
}

function reply(response: ServerResponse, status: number, content: string, headers: OutgoingHttpHeaders = {}) {
  response.writeHead(status, { ...HEADERS, "content-type": "text/plain; charset=utf-8", ...headers });
  response.end(content);
}
