import { ANSWERS, STATES } from "./deliveryState";
import { type Html, html, visible } from "./html";
import { hidden, options } from "./parts";
import { FIRST_VIEW, isFiltered, linkTo, type View } from "./view";

/** The most endpoints that the filter offers: the newest ones. The text filter finds the others. */
const MOST_ENDPOINTS = 200;

interface FilterChoices {
  readonly types: readonly string[];
  readonly endpoints: ReadonlyMap<string, { readonly url: string }>;
}

/** The form that filters the deliveries. It is sent with GET, so that a filtered page has an address of its own. */
export function filterForm(view: View, { types, endpoints }: FilterChoices): Html {
  const { event, status, endpoint, text } = view;
  const ids = [...endpoints.keys()].slice(-MOST_ENDPOINTS).reverse();
  const labels = new Map(ids.map((id) => [id, `${endpoints.get(id)?.url} (${id})`]));
  const choice = (name: string, label: string, choices: Html[]) =>
    html`<select name="${name}" aria-label="${label}">${choices}</select>`;
  return html`<form method="get" action="./" class="filter" data-key="filter" role="search" aria-label="Deliveries">
<input type="search" name="text" value="${text}" placeholder="Search ids, bodies, answers" aria-label="Text">
${choice("event", "Event", [html`<option value="">Every event</option>`, ...options(withSelected(types.map(visible), visible(event)), { selected: visible(event) })])}
${choice("status", "Status", [
  html`<option value="">Every status</option><optgroup label="Delivery">${options(Object.keys(STATES), { selected: status })}</optgroup>
<optgroup label="Last answer">${options(ANSWERS, { selected: status })}</optgroup>`,
])}
${choice("endpoint", "Endpoint", [html`<option value="">Every endpoint</option>`, ...options(withSelected(ids, endpoint), { labels, selected: endpoint })])}
${view.endpoints !== 1 && hidden({ endpoints: view.endpoints })}<button class="scriptless">Filter</button>
${isFiltered(view) && html`<a href="${linkTo({ ...FIRST_VIEW, endpoints: view.endpoints }, "deliveries")}">Show all</a>`}
</form>`;
}

/** Keeps a choice that is not offered any more. */
function withSelected(values: readonly string[], selected: string): readonly string[] {
  return selected === "" || values.includes(selected) ? values : [selected, ...values];
}
