import { isUtf8 } from "node:buffer";
import { isSuccess } from "../../shared/isSuccess";
import { parseJson } from "../../shared/json";
import {
  bytesOf,
  deliveriesOf,
  isGenuine,
  matches,
  type ShownAttempt,
  type ShownDelivery,
  STATES,
} from "./attempts";
import { headersOf } from "./capture";
import { type Html, html } from "./html";
import {
  actionForm,
  addressOf,
  badge,
  hidden,
  live,
  options,
  pre,
  short,
  split,
  time,
  type View,
} from "./layout";

/** The most deliveries that the page lists. */
const SHOWN_DELIVERIES = 100;
/** Headers of an answer that can hold a secret of the receiver. */
const SECRET_HEADER = /cookie|auth|token|secret|password|key|session/i;

/** Where the page's deliveries come from. A method that is absent has no button. An error that a method throws is shown. */
export interface DeliverySource {
  readonly title: string;
  /** What the page says while there are no deliveries. */
  readonly emptyHint: string;
  readonly now?: () => number;
  /** Oldest first. */
  attempts(): readonly ShownAttempt[];
  replay?(attempt: ShownAttempt): Promise<unknown>;
  /** Sends a delivery's event under its id with a body that was changed after signing. */
  tamper?(attempt: ShownAttempt): Promise<unknown>;
  clear?(): void;
}

/** The list of deliveries that a view selects, and one of them: the chosen one, or the newest. */
export function deliveriesTab(source: DeliverySource, view: View): Html {
  const { now = Date.now, emptyHint } = source;
  const all = deliveriesOf(source.attempts(), now());
  const found = all.filter((each) => matches(each, view)).slice(0, SHOWN_DELIVERIES);
  const chosen = all.find(({ attempts }) => attempts.some(({ number }) => String(number) === view.d));
  const current = chosen ?? found[0];
  const count = `${found.length} of ${all.length} deliveries`;
  const filter = html`<form class="filter" role="search" action="./" aria-label="Deliveries">
<input type="search" name="q" value="${view.q}" placeholder="Search ids, urls, bodies, answers" aria-label="Text">
<select name="status" aria-label="Status"><option value="">Every status</option>${options(Object.keys(STATES), view.status)}</select>
<button class="scriptless">Filter</button></form>`;
  return split({
    name: "Deliveries",
    top: filter,
    count: all.length === 0 ? emptyHint : count,
    items: found.map((each) => listItem(each, each === current, view)),
    bottom:
      source.clear &&
      actionForm("clear", { q: view.q, status: view.status }, html`<button>Clear the list</button>`),
    detail: live("detail", current && detail(source, current, view)),
    isChosen: chosen !== undefined,
  });
}

function listItem({ attempts, state }: ShownDelivery, isCurrent: boolean, view: View): Html {
  const [{ number, type, url, at }] = attempts;
  const count = attempts.length > 1 && html`<span class="soft">${attempts.length} attempts</span>`;
  return html`<a id="d${number}" href="${addressOf({ ...view, d: String(number) })}"${isCurrent && html` aria-current="true"`}>
<span class="line">${badge(STATES[state], state)} <strong class="grow">${short(type, 60)}</strong> ${time(at)}</span>
<span class="line"><code class="grow">${short(url)}</code> ${count}</span></a>`;
}

function detail(source: DeliverySource, { attempts, state }: ShownDelivery, view: View): Html {
  const [{ id, endpointId, type, url, body }] = attempts;
  // What the buttons repeat.
  const { number } = attempts.findLast(isGenuine) ?? attempts[0];
  const repeat = (action: "replay" | "tamper", button: Html) =>
    source[action] && actionForm(action, { ...view, d: String(number) }, [hidden("number", number), button]);
  const actions = html`<div class="actions">
${repeat("replay", html`<button id="replay" title="Send the same bytes again">Replay</button>`)}
${repeat("tamper", html`<button id="tamper" title="Sign the body again, change it, and send it under the same id">Send tampered</button>`)}
<a id="capture" href="./attempts/${number}" title="A file for verify --capture and send --capture">Save as capture</a></div>`;
  return html`<a id="back" class="back" href="${addressOf({ ...view, d: "" })}">← All deliveries</a>
<h2>${short(type, 60)} ${badge(STATES[state], state)}</h2>
<dl><dt>Id</dt><dd><code>${short(id, 300)}</code></dd><dt>To</dt><dd><code>${short(url, 2000)}</code></dd>
<dt>Endpoint</dt><dd><code>${short(endpointId)}</code></dd></dl>${body !== null && actions}
<ol class="attempts">${attempts.map((each, index) => attemptItem(each, index === attempts.length - 1))}</ol>`;
}

function attemptItem(attempt: ShownAttempt, isOpen: boolean): Html {
  const { number, at, durationMs = 0, retryInMs, statusCode, error, tampered = false, note } = attempt;
  const result =
    statusCode === undefined
      ? badge("busy", "waiting")
      : badge(isSuccess(statusCode) === tampered ? "bad" : "good", statusCode ?? error ?? "no answer");
  const next = retryInMs != null && html`<span class="soft">next ${time(at + durationMs + retryInMs)}</span>`;
  return html`<li><details id="a${number}"${isOpen && html` open`}>
<summary id="s${number}"><strong>${nameOf(attempt)}</strong> ${time(at)} ${result} <span class="soft">${durationMs} ms</span> ${next}</summary>
${note !== undefined && html`<p class="note">${note}</p>`}
<h3>Request</h3>${pre(`h${number}`, linesOf(headersOf(attempt)))}${content(`b${number}`, bytesOf(attempt))}
<h3>Answer</h3>${answerOf(attempt)}</details></li>`;
}

function nameOf({ attempt, tampered, replayed }: ShownAttempt): string {
  if (tampered) return replayed ? "Tampered, replayed" : "Tampered";
  return replayed ? `Replay of attempt ${attempt}` : `Attempt ${attempt}`;
}

function answerOf({ number, statusCode, error, answer, answerHeaders }: ShownAttempt): Html {
  if (statusCode == null) return html`<p class="soft">None${error ? `: ${error}` : ""}</p>`;
  const headers = Object.entries(answerHeaders ?? {}).map(
    ([name, value]) => [name, SECRET_HEADER.test(name) ? "(hidden)" : value] as const,
  );
  return html`${pre(`r${number}`, linesOf([["status", String(statusCode)], ...headers]))}
${content(`t${number}`, Buffer.from(answer ?? ""))}`;
}

function linesOf(headers: readonly (readonly [string, string])[]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join("\n");
}

/** JSON is indented, with the signed bytes folded below it. Bytes that are not UTF-8 are shown in hexadecimal. */
function content(id: string, bytes: Buffer): Html {
  if (bytes.length === 0) return html`<p class="soft">No body.</p>`;
  if (!isUtf8(bytes)) return html`<p class="soft">Not UTF-8:</p>${pre(id, bytes.toString("hex"))}`;
  const text = bytes.toString("utf8");
  const json = parseJson(text);
  const indented = typeof json === "object" ? JSON.stringify(json, undefined, 2) : text;
  const raw = html`<details id="${id}-raw"><summary id="${id}-show">Raw: ${bytes.length} bytes</summary>${pre(`${id}-bytes`, text)}</details>`;
  return html`${pre(id, indented)}${indented !== text && raw}`;
}
