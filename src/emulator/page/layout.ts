import { type Html, html, type Part } from "./html";

/** How many characters of a string the page shows at most. */
const SHOWN_LENGTH = 4000;
/** How many deliveries or endpoints the page lists at most. */
const LISTED = 100;

/** What the query of the page's address selects. An empty string selects nothing. */
export interface View {
  readonly tab: string;
  /** What a tab shows beside its list: the number of a delivery's first attempt, or the id of an endpoint. */
  readonly d: string;
  /** Part of an id, a url, a body or an answer. */
  readonly q: string;
  readonly status: string;
}

export function viewOf(query: URLSearchParams): View {
  const value = (name: keyof View) => query.get(name) ?? "";
  return { tab: value("tab"), d: value("d"), q: value("q"), status: value("status") };
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
  const links = tabs.map((tab) => {
    const current = tab.id === view.tab && html` aria-current="page"`;
    return html`<a href="${addressOf({ tab: tab.id })}"${current}>${tab.title}</a>`;
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
${content}
</main>
</body>
</html>`;
  return `<!doctype html>\n${markup}`;
}

interface SplitOptions {
  readonly view: View;
  /** Such as "deliveries". */
  readonly name: string;
  readonly emptyHint: string;
  readonly top?: Html;
  readonly bottom?: Html | undefined;
  /** What the view selects, newest first. */
  readonly items: readonly {
    readonly key: string;
    readonly line: () => Html;
    readonly detail: () => Html;
  }[];
  /** How many there are in all. */
  readonly count: number;
}

/** A list of links beside the detail of one of them: the one in the address, or the first. A narrow screen shows either. */
export function split({ view, name, emptyHint, top, bottom, items, count }: SplitOptions): Html {
  const listed = items.slice(0, LISTED);
  const chosen = items.find(({ key }) => key === view.d);
  const current = chosen ?? items[0];
  const links = listed.map((item) => {
    const isCurrent = item === current && html` aria-current="true"`;
    return html`<a id="d${item.key}" href="${addressOf({ ...view, d: item.key })}"${isCurrent}>${item.line()}</a>`;
  });
  const back = html`<a id="back" href="${addressOf({ ...view, d: "" })}">← All ${name}</a>`;
  return html`<div class="split${chosen && " chosen"}"><section class="master" aria-label="List">${top}
<div id="count" class="soft" data-live role="status">${count === 0 ? emptyHint : `${listed.length} of ${count} ${name}`}</div>
${live("list", list(links))}${bottom}</section>
<section class="detail" aria-label="Chosen">${live("detail", current && [back, current.detail()])}</section></div>`;
}

export function list(items: readonly Html[]): Html {
  return html`<ul class="list">${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

/** A part of the page that the script keeps up to date. Everything in it that can have the focus needs an id. */
export function live(id: string, content: Part): Html {
  return html`<div id="${id}" data-live tabindex="-1">${content}</div>`;
}

/** A form that posts to an action, and shows the view after it. */
export function actionForm(action: string, view: Partial<View>, content: Part, className = "row"): Html {
  return html`<form method="post" action="${addressOf(view, action)}" class="${className}">${content}</form>`;
}

/** A button that posts to an action what it acts on. */
export function actionButton(
  action: string,
  view: Partial<View>,
  label: string,
  target: string | number = "",
): Html {
  const button = html`<button id="${action}${target}" name="target" value="${target}">${label}</button>`;
  return actionForm(action, view, button);
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
  const clock = `${date.toLocaleTimeString("en-GB")}.${iso.slice(-4, -1)}`;
  return html`<time class="soft" datetime="${iso}" title="${iso}">${clock}</time>`;
}

/** Preformatted content, cut if it is long. */
export function pre(id: string, content: string): Html {
  return html`<pre id="${id}" tabindex="0">${short(content, SHOWN_LENGTH)}</pre>`;
}

/** A short form of a long string, such as a url. */
export function short(content: string, length = 120): string {
  return content.length > length ? `${content.slice(0, length - 1)}…` : content;
}
