import { type Html, html, type Part } from "./html";
import { linkTo, type View } from "./view";

/** How many characters of a string the page shows at most. */
const SHOWN_LENGTH = 4000;

export type Tone = "good" | "bad" | "busy" | "plain";

interface SectionOptions {
  readonly id: string;
  readonly title: string;
  readonly note?: Part;
  /** Beside the title. The script keeps it up to date. */
  readonly tools?: Html | undefined;
  /** Above the list, kept up to date too. */
  readonly filter?: Html;
  /** Below the list. The script does not touch it. */
  readonly form?: Html;
}

/** A section whose list the script keeps up to date. */
export function section(
  { id, title, note, tools, filter, form }: SectionOptions,
  items: readonly Html[],
): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<div data-list="${id}-heading"><header data-key="heading"><h2 id="${id}-title">${title}</h2><p>${note}</p><span class="grow"></span>${tools}</header></div>
${filter !== undefined && html`<div data-list="${id}-filter">${filter}</div>`}
<div class="items" data-list="${id}">${items}</div>${form}
</section>`;
}

/** A form that posts to an action. The path is relative, because only the server knows the page's path. */
export function actionForm(action: string, content: Part, className = "inline"): Html {
  return html`<form method="post" action="./${action}" class="${className}">${content}</form>`;
}

export function hidden(values: Readonly<Record<string, string | number>>): Html[] {
  return Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}

export function badge(tone: Tone, content: Part): Html {
  return html`<span class="badge ${tone}">${content}</span>`;
}

/** The rest of a control's name. A screen reader says it; who sees the page has it around the control. */
export function unseen(content: string): Html {
  return html`<span class="unseen"> ${short(content)}</span>`;
}

export function options(
  values: readonly string[],
  { labels, selected }: { labels?: ReadonlyMap<string, string>; selected?: string } = {},
): Html[] {
  return values.map(
    (value) =>
      html`<option value="${value}"${value === selected && html` selected`}>${short(labels?.get(value) ?? value)}</option>`,
  );
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

/** Returns a page of a list that is oldest first, newest first. Pages count from 1; a page out of range is the nearest one. */
export function pageOf<Item>(
  all: readonly Item[],
  { page, size }: { readonly page: number; readonly size: number },
): { readonly items: readonly Item[]; readonly page: number; readonly pages: number } {
  const pages = Math.max(1, Math.ceil(all.length / size));
  const current = Math.min(Math.max(1, Math.trunc(page)), pages);
  const end = all.length - (current - 1) * size;
  return { items: all.slice(Math.max(0, end - size), end).reverse(), page: current, pages };
}

interface PagerOptions {
  readonly section: "deliveries" | "endpoints";
  readonly view: View;
  readonly page: number;
  readonly pages: number;
}

/** Links to the pages of a section, if it has more than one. */
export function pager({ section, view, page, pages }: PagerOptions): readonly Html[] {
  if (pages === 1) return [];
  const name = section === "deliveries" ? "page" : "endpoints";
  const link = (to: number, label: string, arrow: Part) =>
    to >= 1 &&
    to <= pages &&
    html`<a href="${linkTo({ ...view, [name]: to }, section)}">${arrow}${unseen(`${section}: ${label}`)}</a>`;
  return [
    html`<nav data-key="pager" class="pager" aria-label="Pages of ${section}">${link(page - 1, "newer", "← Newer")}
<span>Page ${page} of ${pages}</span> ${link(page + 1, "older", "Older →")}</nav>`,
  ];
}
