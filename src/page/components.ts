import { type Html, html, type Part } from "./html";

/** How many characters of a string the page shows at most. */
const SHOWN_LENGTH = 4000;

/**
 * The query of the page's address: `tab`; `d`, the number of the first attempt of the delivery to show; and `q` and `status`, which filter
 * the deliveries.
 */
export type View = Readonly<Record<string, string>>;

/** Returns an address relative to the page's, whose path only the server knows. An empty string selects nothing. */
export function addressOf(view: View, action = ""): string {
  const query = new URLSearchParams(Object.entries(view).filter(([, value]) => value !== ""));
  return `./${action}${query.size === 0 ? "" : `?${query}`}`;
}

/** A part of the page that the script keeps up to date. Everything in it that can have the focus needs an id. */
export function live(id: string, content: Part): Html {
  return html`<div id="${id}" data-live tabindex="-1">${content}</div>`;
}

/** A list that the script keeps up to date, or what to say if it is empty. */
export function list(id: string, items: readonly Html[], none: string): Html {
  const rows = items.length === 0 ? [none] : items;
  return live(id, html`<ul class="list">${rows.map((row) => html`<li>${row}</li>`)}</ul>`);
}

/** A form that posts to an action, and shows the view after it. */
export function actionForm(action: string, view: View, content: Part, className = "fields"): Html {
  return html`<form method="post" action="${addressOf(view, action)}" class="${className}">${content}</form>`;
}

/** A button that posts to an action what it acts on. */
export function actionButton(action: string, view: View, label: string, target: string | number = ""): Html {
  const name = target !== "" && html` aria-label="${label} ${target}"`;
  const button = html`<button id="${action}${target}" name="target" value="${target}"${name}>${label}</button>`;
  return actionForm(action, view, button, "row");
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
  const iso = new Date(at).toISOString();
  const clock = new Date(at).toTimeString().slice(0, 8);
  return html`<time class="soft" datetime="${iso}" title="${iso}">${clock}${iso.slice(-5, -1)}</time>`;
}

/** Preformatted content, cut if it is long. */
export function pre(id: string, content: string): Html {
  return html`<pre id="${id}" tabindex="0">${short(content, SHOWN_LENGTH)}</pre>`;
}

/** A short form of a long string, such as a url. */
export function short(content: string, length = 120): string {
  return content.length > length ? `${content.slice(0, length - 1)}…` : content;
}
