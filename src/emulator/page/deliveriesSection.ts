import { attemptItem, replayForm, resultBadge } from "./attemptItem";
import { ANSWERS, isGenuine, matches, STATES, stateOf } from "./deliveryState";
import type { DeliveryHistory, History } from "./history";
import { type Html, html, visible } from "./html";
import { actionForm, badge, hidden, options, pager, section, short, time, unseen } from "./parts";
import type { PageSource, ShownAttempt } from "./source";
import { FIRST_VIEW, isFiltered, linkTo, type View } from "./view";

const DELIVERIES_PER_PAGE = 25;
/** The most endpoints that the filter offers: the newest ones. The text filter finds the others. */
const MOST_ENDPOINTS = 200;

/** The deliveries that a view selects, each folded into a line. */
export function deliveriesSection(source: PageSource, history: History, view: View): Html {
  const endpoints = source.endpoints();
  const shown = history.page(
    { logged: source.logged(), open: source.open() },
    {
      page: view.page,
      size: DELIVERIES_PER_PAGE,
      matches: isFiltered(view) ? (delivery) => matches(delivery, view, endpoints) : undefined,
    },
  );
  const { deliveries, total, selected } = shown;
  const hint = total === 0 ? source.emptyHint : "No delivery matches the filter.";
  const items = deliveries.map((delivery) => deliveryCard(delivery, source, endpoints));
  const note = isFiltered(view) ? `${selected} of ${total}` : total === 0 ? "none yet" : `${total} in total`;
  const clear =
    total > 0 &&
    source.actions.has("cleared-deliveries") &&
    actionForm("cleared-deliveries", html`<button>Clear${unseen("the deliveries")}</button>`);
  const filter = filterForm(view, history.types, endpoints);
  return section({ id: "deliveries", title: "Deliveries", note, tools: html`${clear}`, filter }, [
    ...(items.length === 0 ? [html`<p class="empty" data-key="empty">${hint}</p>`] : items),
    ...pager({ section: "deliveries", view, ...shown }),
  ]);
}

/** The form that filters the deliveries. It is sent with GET, so that a filtered page has an address of its own. */
function filterForm(
  view: View,
  types: readonly string[],
  endpoints: ReadonlyMap<string, { readonly url: string }>,
): Html {
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

function deliveryCard(
  delivery: DeliveryHistory,
  { actions, canReplay = () => true }: PageSource,
  endpoints: ReadonlyMap<string, unknown>,
): Html {
  const { key, attempts } = delivery;
  const [first] = attempts;
  const last = attempts.at(-1) ?? first;
  const { id, endpointId, type, url, at } = first;
  const state = stateOf(delivery, endpoints);
  const waiting = state === "retrying" ? attempts.findLast(isGenuine) : undefined;
  const genuine = attempts.findLast(isGenuine) ?? last;
  const hasReplay = (attempt: ShownAttempt) => actions.has("replays") && canReplay(attempt);
  const items = attempts.map((attempt, index) =>
    attemptItem(attempt, {
      previous: attempts[index - 1],
      waiting: attempt === waiting,
      open: attempts.length === 1,
      // The last genuine one has its button below the attempts.
      canReplay: attempt !== genuine && hasReplay(attempt),
    }),
  );
  const forge =
    actions.has("forgeries") &&
    actionForm(
      "forgeries",
      html`${hidden({ number: genuine.number })}<button title="Sign its body again, change it, and send it under the same id">Send tampered${unseen(`${type} to ${endpointId}, number ${genuine.number}`)}</button>`,
    );
  return html`<article class="card" data-key="${key}"><details data-key="delivery">
<summary>${badge(STATES[state], state)} <strong>${short(type, 60)}</strong> <code class="grow">${short(url)}</code>
${attempts.length > 1 && html`<span class="count">${attempts.length} attempts</span>`} ${resultBadge(last)} ${time(at)}</summary>
<ol class="attempts">${items}</ol>
<footer><code class="id">${short(id)} to ${short(endpointId)}</code>${hasReplay(genuine) && replayForm(genuine)}${forge}</footer></details></article>`;
}
