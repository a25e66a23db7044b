import { parseJson } from "../shared/json";
import {
  actionButton,
  addressOf,
  badge,
  list,
  live,
  options,
  pre,
  short,
  time,
  type View,
} from "./components";
import {
  deliveriesOf,
  headersOf,
  isGenuine,
  matches,
  READ_BYTES,
  readable,
  type ShownAttempt,
  type ShownDelivery,
  STATES,
  stateOf,
  toneOf,
} from "./deliveries";
import { type Html, html } from "./html";
import type { PageSource } from "./source";

/** How many deliveries the page lists at most. */
const LISTED = 100;
/** How deep JSON is that the page indents. Each level indents all that is in it. */
const DEEPEST = 32;

/**
 * The list of deliveries that a view selects, beside one of them: the one in the address, or the newest. A narrow screen shows either the
 * list or the chosen one.
 */
export function deliveriesTab(source: PageSource, view: View): Html {
  const all = deliveriesOf(source.attempts());
  const found = all.filter((each) => matches(each, view));
  const listed = found.slice(0, LISTED);
  const chosen = found.find(({ first }) => String(first.number) === view.d);
  const current = chosen ?? found[0];
  const links = listed.map((each) => {
    const { number } = each.first;
    const isCurrent = each === current && html` aria-current="true"`;
    return html`<a id="d${number}" href="${addressOf({ ...view, d: String(number) })}"${isCurrent}>${line(each)}</a>`;
  });
  const none = all.length === 0 ? source.emptyHint : "No delivery matches.";
  const back = html`<a id="back" href="${addressOf({ ...view, d: "" })}">← All deliveries</a>`;
  return html`<div class="split${chosen && " chosen"}"><section class="master" aria-label="List">
<form class="filter" role="search" action="./" aria-label="Deliveries">
<input type="search" name="q" value="${view.q}" placeholder="Search ids, urls, bodies, responses" aria-label="Text">
<select name="status" aria-label="Status"><option value="">Every status</option>${options(Object.keys(STATES), view.status)}</select>
<button>Filter</button></form>
<div id="count" class="soft" data-live role="status">${listed.length} of ${all.length} deliveries</div>
${list("list", links, none)}${source.actions["all-failed"] && actionButton("all-failed", view, "Replay all failed")}
${source.actions.clear && actionButton("clear", { ...view, d: "" }, "Clear the list")}</section>
<section class="detail" aria-label="Chosen">${live("detail", current && [back, detail(source.actions, current, view)])}</section></div>`;
}

function line(delivery: ShownDelivery): Html {
  const { first, attempts } = delivery;
  const { event, url, at } = first;
  const count = attempts.length > 1 && html`<span class="soft">${attempts.length} attempts</span>`;
  return html`<span class="row">${stateBadge(delivery)} <strong class="grow">${short(event, 60)}</strong> ${time(at)}</span>
<span class="row"><code class="grow soft">${short(url)}</code> ${count}</span>`;
}

function detail({ replay, tamper }: PageSource["actions"], delivery: ShownDelivery, view: View): Html {
  const { first, attempts } = delivery;
  const { number, id, endpointId, event, url, body } = first;
  const here = { ...view, d: String(number) };
  // What the buttons repeat.
  const genuine = (attempts.findLast(isGenuine) ?? first).number;
  const actions = html`<div class="row">
${replay && actionButton("replay", here, "Replay", genuine)}
${tamper && actionButton("tamper", here, "Send tampered", genuine)}
<a id="capture" href="./attempts/${genuine}">Save as capture</a></div>`;
  return html`<h2>${short(event, 60)} ${stateBadge(delivery)}</h2>
<dl><dt>Id</dt><dd><code>${short(id)}</code></dd><dt>To</dt><dd><code>${short(url, 2000)}</code></dd>
<dt>Endpoint</dt><dd><code>${short(endpointId)}</code></dd></dl>${body !== null && actions}
${attempts.map((each) => attemptDetails(each, each === attempts.at(-1)))}`;
}

function stateBadge(delivery: ShownDelivery): Html {
  const state = stateOf(delivery);
  return badge(STATES[state], state);
}

function attemptDetails(attempt: ShownAttempt, isOpen: boolean): Html {
  const { number, at, body, note, status, error, response = "" } = attempt;
  const { tampered = false, replayed, durationMs = 0, retryInMs } = attempt;
  const sent = tampered ? "Tampered" : `Attempt ${attempt.attempt}`;
  const name = replayed ? `Replay of ${sent.toLowerCase()}` : sent;
  const result = status === undefined ? "waiting" : (status ?? error ?? "no response");
  const next = retryInMs != null && html`<span class="soft">next ${time(at + durationMs + retryInMs)}</span>`;
  const lines = headersOf(attempt).map(([header, value]) => `${header}: ${value}`);
  return html`<details id="a${number}"${isOpen && html` open`}>
<summary id="s${number}"><strong>${name}</strong> ${time(at)} ${badge(toneOf(attempt), result)} <span class="soft">${durationMs} ms</span> ${next}</summary>
${note !== undefined && html`<p>${note}</p>`}
<h3>Request</h3>${message(`q${number}`, lines, indentedOnce(attempt, readable(body)))}
<h3>Response</h3>${message(`r${number}`, [`status: ${result}`], indented(response))}</details>`;
}

function message(id: string, lines: readonly string[], body: string): Html {
  return pre(id, [...lines, "", body].join("\n").trimEnd());
}

/** Indents JSON; a capture has the bytes as they were signed. What is cut, and so no JSON, stays as it is. */
function indented(body: string): string {
  const json = parseJson(body);
  if (typeof json !== "object" || depthOf(body) > DEEPEST) return body;
  return JSON.stringify(json, undefined, 2);
}

const indentedBodies = new WeakMap<ShownAttempt, string>();

/** Does the same once for the body of an attempt: the page asks for it each second, and it never changes. */
function indentedOnce(attempt: ShownAttempt, body: string): string {
  // A copy: a part of a string keeps the whole one in memory.
  const known = indentedBodies.get(attempt) ?? Buffer.from(indented(body).slice(0, READ_BYTES)).toString();
  indentedBodies.set(attempt, known);
  return known;
}

/** Returns how deep JSON is, or more: a string in it may hold brackets. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of json.matchAll(/[[{\]}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
