import { PAGE_PATH } from "./context";
import { type Html, html, type Part } from "./html";

/** How many characters of a string the page shows at most. */
const SHOWN_LENGTH = 4000;

export type Tone = "good" | "bad" | "busy" | "plain";

/** A section whose list the script keeps up to date. `form` is not touched by it. */
export function section(
  { id, title, note, form }: { id: string; title: string; note?: Part; form?: Html },
  items: readonly Html[],
): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<div data-list="${id}-heading"><header data-key="heading"><h2 id="${id}-title">${title}</h2><p>${note}</p></header></div>
<div class="items" data-list="${id}">${items}</div>${form}
</section>`;
}

/** A form that posts to an action. */
export function actionForm(action: string, content: Part, className = "inline"): Html {
  return html`<form method="post" action="${PAGE_PATH}${action}" class="${className}">${content}</form>`;
}

export function hidden(values: Readonly<Record<string, string>>): Html[] {
  return Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}

export function badge(tone: Tone, content: Part): Html {
  return html`<span class="badge ${tone}">${content}</span>`;
}

export function options(values: readonly string[], labels: Readonly<Record<string, string>> = {}): Html[] {
  return values.map((value) => html`<option value="${value}">${labels[value] ?? value}</option>`);
}

/** A local time of day to the millisecond; hovering shows the full time in UTC. */
export function time(at: number): Html {
  const date = new Date(at);
  const iso = date.toISOString();
  const clock = date.toLocaleTimeString("en-GB");
  return html`<time datetime="${iso}" title="${iso}">${clock}<small>.${iso.slice(-4, -1)}</small></time>`;
}

/** Preformatted content, cut if it is long. */
export function pre(content: string): Html {
  const rest = content.length - SHOWN_LENGTH;
  const cut = rest > 0 && html`<small>… and ${rest} more characters</small>`;
  return html`<pre tabindex="0">${content.slice(0, SHOWN_LENGTH)}</pre>${cut}`;
}

/** A short form of a long string, such as a URL. */
export function short(content: string, length = 120): string {
  return content.length > length ? `${content.slice(0, length - 1)}…` : content;
}
