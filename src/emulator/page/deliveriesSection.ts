import { attemptItem, replayForm, resultBadge } from "./attemptItem";
import { isGenuine, matches, STATES, stateOf } from "./deliveryState";
import { filterForm } from "./filterForm";
import type { DeliveryHistory, History } from "./history";
import { type Html, html } from "./html";
import { actionForm, badge, hidden, pager, section, short, time, unseen } from "./parts";
import type { PageSource, ShownAttempt } from "./source";
import { isFiltered, type View } from "./view";

/** How many deliveries a page shows. */
const DELIVERIES_PER_PAGE = 25;

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
  const filter = filterForm(view, { types: history.types, endpoints });
  return section({ id: "deliveries", title: "Deliveries", note, tools: html`${clear}`, filter }, [
    ...(items.length === 0 ? [html`<p class="empty" data-key="empty">${hint}</p>`] : items),
    ...pager({ section: "deliveries", view, ...shown }),
  ]);
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
