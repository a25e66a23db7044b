import { isSuccess } from "../../shared/isSuccess";
import { parseJson } from "../../shared/json";
import {
  bytesOf,
  deliveriesOf,
  headersOf,
  isGenuine,
  matches,
  type ShownAttempt,
  type ShownDelivery,
  STATES,
} from "./attempts";
import { type Html, html } from "./html";
import { actionButton, badge, options, pre, short, split, time, type View } from "./layout";

/** Headers of an answer that can hold a secret of the receiver. */
const SECRET_HEADER = /cookie|auth|token|secret|password|key|session/i;

/** Where the page's deliveries come from. A method that is absent has no button. An error that a method throws is shown. */
export interface DeliverySource {
  readonly title: string;
  /** What the page says while there are no deliveries. */
  readonly emptyHint: string;
  /** Oldest first. */
  attempts(): readonly ShownAttempt[];
  replay?(attempt: ShownAttempt): Promise<unknown>;
  /** Sends a delivery's event under its id with a body that was changed after signing. */
  tamper?(attempt: ShownAttempt): Promise<unknown>;
  clear?(): void;
}

/** The list of deliveries that a view selects, and one of them. */
export function deliveriesTab(source: DeliverySource, view: View): Html {
  const all = deliveriesOf(source.attempts());
  const filter = html`<form class="filter" role="search" action="./" aria-label="Deliveries">
<input type="search" name="q" value="${view.q}" placeholder="Search ids, urls, bodies, answers" aria-label="Text">
<select name="status" aria-label="Status"><option value="">Every status</option>${options(Object.keys(STATES), view.status)}</select>
<button>Filter</button></form>`;
  return split({
    view,
    name: "deliveries",
    emptyHint: source.emptyHint,
    top: filter,
    bottom: source.clear && actionButton("clear", { ...view, d: "" }, "Clear the list"),
    items: all
      .filter((each) => matches(each, view))
      .map((each) => ({
        key: String(each.attempts[0].number),
        line: () => line(each),
        detail: () => detail(source, each, view),
      })),
    count: all.length,
  });
}

function line({ attempts, state }: ShownDelivery): Html {
  const [{ type, url, at }] = attempts;
  const count = attempts.length > 1 && html`<span class="soft">${attempts.length} attempts</span>`;
  return html`<span class="row">${badge(STATES[state], state)} <strong class="grow">${short(type, 60)}</strong> ${time(at)}</span>
<span class="row"><code class="grow soft">${short(url)}</code> ${count}</span>`;
}

function detail(source: DeliverySource, { attempts, state }: ShownDelivery, view: View): Html {
  const [{ number, id, endpointId, type, url, body }] = attempts;
  const here = { ...view, d: String(number) };
  // What the buttons repeat.
  const genuine = (attempts.findLast(isGenuine) ?? attempts[0]).number;
  const actions = html`<div class="row">
${source.replay && actionButton("replay", here, "Replay", genuine)}
${source.tamper && actionButton("tamper", here, "Send tampered", genuine)}
<a id="capture" href="./attempts/${genuine}">Save as capture</a></div>`;
  return html`<h2>${short(type, 60)} ${badge(STATES[state], state)}</h2>
<dl><dt>Id</dt><dd><code>${short(id)}</code></dd><dt>To</dt><dd><code>${short(url, 2000)}</code></dd>
<dt>Endpoint</dt><dd><code>${short(endpointId)}</code></dd></dl>${body !== null && actions}
${attempts.map((each) => attemptDetails(each, each === attempts.at(-1)))}`;
}

function attemptDetails(attempt: ShownAttempt, isOpen: boolean): Html {
  const { number, at, durationMs = 0, retryInMs, statusCode, error, tampered = false, note } = attempt;
  const result =
    statusCode === undefined
      ? badge("busy", "waiting")
      : badge(isSuccess(statusCode) === tampered ? "bad" : "good", statusCode ?? error ?? "no answer");
  const next = retryInMs != null && html`<span class="soft">next ${time(at + durationMs + retryInMs)}</span>`;
  return html`<details id="a${number}"${isOpen && html` open`}>
<summary id="s${number}"><strong>${nameOf(attempt)}</strong> ${time(at)} ${result} <span class="soft">${durationMs} ms</span> ${next}</summary>
${note !== undefined && html`<p>${note}</p>`}
<h3>Request</h3>${pre(`h${number}`, linesOf(headersOf(attempt)))}${content(`b${number}`, bytesOf(attempt).toString())}
<h3>Answer</h3>${answerOf(attempt)}</details>`;
}

function nameOf({ attempt, tampered, replayed }: ShownAttempt): string {
  const name = tampered ? "Tampered" : `Attempt ${attempt}`;
  return replayed ? `Replay of ${name.toLowerCase()}` : name;
}

function answerOf({ number, statusCode, error, answer, answerHeaders }: ShownAttempt): Html {
  if (statusCode == null) return html`<p class="soft">None${error ? `: ${error}` : ""}</p>`;
  const headers = Object.entries(answerHeaders ?? {}).map(
    ([name, value]) => [name, SECRET_HEADER.test(name) ? "(hidden)" : value] as const,
  );
  return html`${pre(`r${number}`, linesOf([["status", String(statusCode)], ...headers]))}${content(`t${number}`, answer ?? "")}`;
}

function linesOf(headers: readonly (readonly [string, string])[]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join("\n");
}

/** JSON is indented. A capture has the bytes as they were signed. */
function content(id: string, text: string): Html {
  const json = parseJson(text);
  if (text === "") return html`<p class="soft">No body.</p>`;
  return pre(id, typeof json === "object" ? JSON.stringify(json, undefined, 2) : text);
}
