import type { LoggedRequest } from "../requestLog";
import { type Html, html } from "./html";
import { badge, section, short, type Tone, time } from "./parts";

/** The most API requests that the page shows: the newest ones. */
const SHOWN_REQUESTS = 12;

export function requestsSection(requests: readonly LoggedRequest[]): Html {
  const first = Math.max(0, requests.length - SHOWN_REQUESTS);
  const rows = requests.slice(first).map(
    ({ at, method, path, statusCode, fault }, index) =>
      html`<p class="row" data-key="${first + index}-${at}">${time(at)} <code class="grow">${short(method, 10)} ${short(path, 60)}</code>
${fault !== undefined && badge("bad", fault)} ${badge(toneOf(statusCode), statusCode ?? "no answer")}</p>`,
  );
  const note = requests.length > SHOWN_REQUESTS ? `the last ${SHOWN_REQUESTS}` : undefined;
  const empty = html`<p class="empty" data-key="empty">None yet.</p>`;
  return section(
    { id: "requests", title: "API requests", note },
    rows.length === 0 ? [empty] : rows.reverse(),
  );
}

function toneOf(statusCode: number | null): Tone {
  if (statusCode === null) return "busy";
  return statusCode < 400 ? "good" : "bad";
}
