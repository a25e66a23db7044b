import type { Registry } from "../registry";
import { PAGE_PATH } from "./context";
import type { DeliveryHistory, HistoryPage, ShownAttempt } from "./history";
import { type Html, html } from "./html";
import { actionForm, badge, hidden, pre, section, short, type Tone, time } from "./parts";

export function deliveriesSection(history: HistoryPage, registry: Registry): Html {
  const { deliveries, total, page, pages } = history;
  const note = total === 0 ? "none yet" : `${total} in total`;
  const items = deliveries.map((delivery) => deliveryCard(delivery, registry));
  const empty = html`<p class="empty" data-key="empty">Run a job, and its signed events appear here.</p>`;
  const pager = html`<nav data-key="pager" aria-label="Pages of deliveries">
${page > 1 && html`<a href="${PAGE_PATH}?page=${page - 1}">← Newer</a>`}
<span>Page ${page} of ${pages}</span>
${page < pages && html`<a href="${PAGE_PATH}?page=${page + 1}">Older →</a>`}</nav>`;
  return section({ id: "deliveries", title: "Deliveries", note }, [
    ...(total === 0 ? [empty] : items),
    ...(pages > 1 ? [pager] : []),
  ]);
}

function deliveryCard({ key, attempts }: DeliveryHistory, registry: Registry): Html {
  const [{ id, endpointId, type, url, at }] = attempts;
  const gone = registry.accountOf(endpointId) === undefined;
  const [tone, state] = stateOf(attempts, gone);
  const waiting = state === "retrying" ? attempts.findLast(isGenuine) : undefined;
  const target = hidden({ id, endpointId });
  return html`<article class="card" data-key="${key}">
<header>${badge(tone, state)} <strong>${short(type)}</strong> <span class="grow"></span>${time(at)}</header>
<p class="url"><code>${short(url)}</code></p>
<ol class="attempts">${attempts.map((attempt, index) => attemptItem(attempt, attempts[index - 1], attempt === waiting))}</ol>
<footer><code class="id">${short(id)}</code><span class="grow"></span>
${actionForm("replays", html`${target}<button title="Send the last attempt again, byte for byte">Replay</button>`)}
${actionForm("forgeries", html`${target}<button title="Send it with a body that was changed after signing">Tamper</button>`)}
</footer></article>`;
}

/** The state of a delivery. Replays and forgeries count only if there is nothing else. */
function stateOf(attempts: DeliveryHistory["attempts"], gone: boolean): [Tone, string] {
  if (attempts.some(isOpen)) return ["busy", "sending"];
  const genuine = attempts.filter(isGenuine);
  if (genuine.some(isAccepted)) return ["good", "delivered"];
  const last = genuine.at(-1) ?? attempts[attempts.length - 1];
  if (last === undefined) return ["plain", ""];
  if (last.tampered) return isAccepted(last) ? ["bad", "forgery accepted"] : ["good", "forgery refused"];
  if (isAccepted(last)) return ["good", "delivered"];
  if (last.retryInMs == null) return ["bad", "failed"];
  return gone ? ["bad", "endpoint deleted"] : ["busy", "retrying"];
}

function attemptItem(attempt: ShownAttempt, previous: ShownAttempt | undefined, waiting: boolean): Html {
  const { at, attempt: number, tampered, replayed, headers, body, url, retryInMs, answer } = attempt;
  const name = tampered ? "Tampered" : replayed ? "Replay" : `Attempt ${number}`;
  const next = waiting && html`<span class="next">next ${time(at + (retryInMs ?? 0))}</span>`;
  const changed = previous === undefined || previous.body !== body;
  return html`<li><details data-key="${at}-${number}-${replayed ? "r" : ""}${tampered ? "t" : ""}">
<summary><span>${name}</span> ${time(at)} <span class="arrow" aria-label="was answered">→</span> ${resultBadge(attempt)} ${next}</summary>
<div class="exchange"><h3>Request</h3>${pre(requestText(url, headers))}
${changed ? pre(body) : html`<p class="same">The same body as before.</p>`}
<h3>Answer</h3>${answerOf(attempt)}${answer !== undefined && answer !== null && answer !== "" && pre(answer)}</div>
</details></li>`;
}

function requestText(url: string, headers: ShownAttempt["headers"]): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${short(url, 2000)}`, "content-type: application/json", ...lines].join("\n");
}

function answerOf({ statusCode, error }: ShownAttempt): Html {
  if (statusCode === undefined) return html`<p>None yet.</p>`;
  if (statusCode === null) return html`<p>None: <code>${error ?? "no connection"}</code></p>`;
  return html`<p>Status <code>${statusCode}</code></p>`;
}

function resultBadge(attempt: ShownAttempt): Html {
  if (isOpen(attempt)) return badge("busy", "waiting");
  const result = attempt.statusCode ?? attempt.error ?? "no answer";
  return badge(isAccepted(attempt) === attempt.tampered ? "bad" : "good", result);
}

function isGenuine({ replayed, tampered }: ShownAttempt): boolean {
  return !replayed && !tampered;
}

function isOpen({ statusCode }: ShownAttempt): boolean {
  return statusCode === undefined;
}

function isAccepted({ statusCode }: ShownAttempt): boolean {
  return statusCode != null && statusCode >= 200 && statusCode < 300;
}
