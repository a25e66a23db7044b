import { quoted } from "../../../shared/words";
import type { Secrets } from "../../deliveries/secrets";
import type { EmulatedEndpointType } from "../../endpoint";
import type { LoggedRequest } from "../../log";
import { type Html, html } from "../html";
import { actionForm, badge, section, short, type Tone, time, unseen } from "../parts";

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
  const clear =
    rows.length > 0 &&
    actionForm("cleared-requests", html`<button>Clear${unseen("the API requests")}</button>`);
  return section(
    { id: "requests", title: "API requests", note, tools: html`${clear}` },
    rows.length === 0 ? [empty] : rows.reverse(),
  );
}

function toneOf(statusCode: number | null): Tone {
  if (statusCode === null) return "busy";
  return statusCode < 400 ? "good" : "bad";
}

/** The signing secrets open nothing but this emulator, so the page shows them. */
export function secretsSection(secrets: Secrets): Html {
  const { production, development } = secrets.snapshot();
  const alike = production.join() === development.join();
  const rotating = production.length > 1 || development.length > 1;
  const items = alike
    ? secretRows(production)
    : [...secretRows(production, "production"), ...secretRows(development, "development")];
  const actions = html`<div class="row" data-key="actions">${actionForm("rotations", html`<button>Rotate the secret</button>`)}
${rotating && actionForm("finished-rotations", html`<button>Finish the rotation</button>`)}</div>`;
  const note = rotating ? "rotating: each of them signs" : undefined;
  return section({ id: "secrets", title: "Signing secret", note }, [...items, actions]);
}

function secretRows(secrets: readonly string[], type?: EmulatedEndpointType): Html[] {
  return secrets.map((secret, index) => {
    const age = secrets.length > 1 && badge(index === 0 ? "good" : "plain", index === 0 ? "new" : "old");
    return html`<p class="row" data-key="${type ?? ""}${secret}">${type !== undefined && badge("plain", type)} ${age}
<code class="secret">${secret}</code></p>`;
  });
}

/** The settings that point a stack at this emulator. */
export function settingsSection({ url, apiKey, secret }: Record<"url" | "apiKey" | "secret", string>): Html {
  const commands = [
    `pulumi config set webhooks:baseUrl ${quoted(url)}`,
    `pulumi config set --secret webhooks:apiKey ${quoted(apiKey)}`,
    `pulumi config set --secret signingSecret ${quoted(secret)}`,
  ];
  return section({ id: "settings", title: "Settings", note: "for a stack" }, [
    html`<pre tabindex="0" data-key="commands">${commands.join("\n")}</pre>`,
  ]);
}
