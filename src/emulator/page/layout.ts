import { type Html, html, type Part } from "./html";

/** How many characters of a string the page shows at most. */
const SHOWN_LENGTH = 4000;

/** What the query of the page's address selects. An empty string selects nothing. */
export interface View {
  readonly tab: string;
  /** The number of an attempt, whose delivery is shown. */
  readonly d: string;
  /** Part of an id, a url, a body or an answer. */
  readonly q: string;
  readonly status: string;
  /** The id of an endpoint, which is shown. */
  readonly e: string;
}

export function viewOf(query: URLSearchParams): View {
  const value = (name: keyof View) => query.get(name) ?? "";
  return { tab: value("tab"), d: value("d"), q: value("q"), status: value("status"), e: value("e") };
}

/** Returns an address relative to the page's, whose path only the server knows. */
export function addressOf(view: Partial<View>, action = ""): string {
  const query = new URLSearchParams(Object.entries(view).filter(([, value]) => value !== ""));
  return `./${action}${query.size === 0 ? "" : `?${query}`}`;
}

interface LayoutOptions {
  readonly title: string;
  /** The address at which the browser reached the page, without a path. */
  readonly origin: string;
  readonly tabs: readonly { readonly id: string; readonly title: string }[];
  readonly view: View;
  readonly toolbar?: Html | undefined;
  readonly content: Html;
  /** Why an action was refused. */
  readonly alert?: string | undefined;
}

export function renderPage({ title, origin, tabs, view, toolbar, content, alert }: LayoutOptions): string {
  const links = tabs.map(
    (tab) =>
      html`<a href="${addressOf({ tab: tab.id })}"${tab.id === view.tab && html` aria-current="page"`}>${tab.title}</a>`,
  );
  const { markup } = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="./icon.svg">
<link rel="stylesheet" href="./style.css">
<script src="./script.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<img src="./icon.svg" alt="" width="34" height="34">
<div class="grow"><h1>${title}</h1><p><code>${origin}</code> <span id="live" role="status"></span></p></div>
${toolbar}
</header>
${tabs.length > 1 && html`<nav class="tabs" aria-label="Tabs">${links}</nav>`}
<main id="main" tabindex="-1">
${alert !== undefined && html`<p role="alert">${alert}</p>`}
${content}
</main>
</body>
</html>`;
  return `<!doctype html>\n${markup}`;
}

interface SplitOptions {
  readonly name: string;
  readonly top?: Html;
  readonly count: string;
  readonly items: readonly Html[];
  readonly bottom?: Html | undefined;
  readonly detail: Html | undefined;
  /** Whether the address chooses what the detail shows. A narrow screen then shows the detail, otherwise the list. */
  readonly isChosen: boolean;
}

/** A list of links beside the detail of one of them. */
export function split({ name, top, count, items, bottom, detail, isChosen }: SplitOptions): Html {
  return html`<div class="split${isChosen && " chosen"}"><section class="master" aria-label="${name}">${top}
<div id="count" class="count" data-live role="status">${count}</div>
${live("list", list(items))}${bottom}</section>
<section class="detail" aria-label="Chosen">${detail}</section></div>`;
}

export function list(items: readonly Html[]): Html {
  return html`<ul class="list">${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

/** A part of the page that the script keeps up to date. Everything in it that can have the focus needs an id. */
export function live(id: string, content: Part): Html {
  return html`<div id="${id}" data-live tabindex="-1">${content}</div>`;
}

/** A form that posts to an action, and comes back to the view. */
export function actionForm(action: string, view: Partial<View>, content: Part, className = "inline"): Html {
  return html`<form method="post" action="${addressOf(view, action)}" class="${className}">${content}</form>`;
}

export function hidden(name: string, value: string | number): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

export type Tone = "good" | "bad" | "busy" | "plain";

export function badge(tone: Tone, content: Part): Html {
  return html`<span class="badge ${tone}">${content}</span>`;
}

export function options(values: readonly string[], selected?: string): Html[] {
  return values.map((value) => html`<option${value === selected && html` selected`}>${value}</option>`);
}

/** A local time of day to the millisecond; hovering shows the full time in UTC. */
export function time(at: number): Html {
  const date = new Date(at);
  const iso = date.toISOString();
  const clock = date.toLocaleTimeString("en-GB");
  return html`<time datetime="${iso}" title="${iso}">${clock}<small>.${iso.slice(-4, -1)}</small></time>`;
}

/** Preformatted content, cut if it is long. */
export function pre(id: string, content: string): Html {
  return html`<pre id="${id}" tabindex="0">${short(content, SHOWN_LENGTH)}</pre>`;
}

/** A short form of a long string, such as a url. */
export function short(content: string, length = 120): string {
  return content.length > length ? `${content.slice(0, length - 1)}…` : content;
}
