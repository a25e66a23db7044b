import type { EmulatedEndpoint } from "../endpoint";
import type { Registry } from "../registry";
import { EVENT_TYPES } from "./actions";
import { type Html, html } from "./html";
import { actionForm, badge, hidden, options, section, short } from "./parts";

/** The most endpoints that the page shows: the newest ones. */
const SHOWN_ENDPOINTS = 50;

export function endpointsSection(registry: Registry, homeAccount: string): Html {
  const all = [...registry.accounts].flatMap((account) =>
    registry
      .list(account)
      .map((endpoint) => ({ account: account === homeAccount ? undefined : account, endpoint })),
  );
  const cut = all.length > SHOWN_ENDPOINTS;
  const note = cut ? `the newest ${SHOWN_ENDPOINTS} of ${all.length}` : String(all.length);
  const items = all.slice(-SHOWN_ENDPOINTS).reverse().map(endpointCard);
  const empty = html`<p class="empty" data-key="empty">None yet. Point a stack at this service (see Settings), declare an
endpoint, and run <code>pulumi up</code>.</p>`;
  return section({ id: "endpoints", title: "Endpoints", note }, items.length === 0 ? [empty] : items);
}

function endpointCard({
  account,
  endpoint,
}: {
  account: string | undefined;
  endpoint: EmulatedEndpoint;
}): Html {
  const { id, url, type, ip } = endpoint;
  const form = html`${hidden({ endpointId: id })}<select name="type" aria-label="Event">${options(EVENT_TYPES)}</select>
<button>Send</button><button name="tamper" value="yes" title="Send it with a body that was changed after signing">Send tampered</button>`;
  return html`<article class="card" data-key="${id}">
<header>${badge("plain", type)} ${account !== undefined && badge("plain", `account ${account}`)}
<span class="grow"></span><code class="id">${short(id)}</code></header>
<p class="url"><code>${short(url)}</code>${ip !== undefined && html` <small>from ${ip}</small>`}</p>
<footer>${actionForm("events", form)}</footer></article>`;
}
