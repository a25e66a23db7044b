import { type EmulatedEndpoint, ENDPOINT_TYPES } from "../../endpoint";
import { type Html, html } from "../html";
import { actionForm, badge, hidden, options, pageOf, pager, section, short, unseen } from "../parts";
import { FIRST_VIEW, linkTo, type View } from "../view";
import { EVENT_TYPES, type PageContext } from "./actions";

const ENDPOINTS_PER_PAGE = 10;

interface Registered {
  /** Undefined for the account of the page. */
  readonly account: string | undefined;
  readonly endpoint: EmulatedEndpoint;
}

/** The endpoints of every account, newest first, each folded into a line. */
export function endpointsSection({ registry, homeAccount }: PageContext, view: View): Html {
  const all = [...registry.accounts].flatMap((name) =>
    registry
      .list(name)
      .map((endpoint): Registered => ({ account: name === homeAccount ? undefined : name, endpoint })),
  );
  const shown = pageOf(all, { page: view.endpoints, size: ENDPOINTS_PER_PAGE });
  const empty = html`<p class="empty" data-key="empty">None yet. Point a stack at this service (see Settings), declare an
endpoint, and run <code>pulumi up</code>. Or register one here.</p>`;
  return section({ id: "endpoints", title: "Endpoints", note: String(all.length), form: registerForm() }, [
    ...(all.length === 0 ? [empty] : shown.items.map(endpointCard)),
    ...pager({ section: "endpoints", view, ...shown }),
  ]);
}

function endpointCard({ account, endpoint }: Registered): Html {
  const { id, url, type, ip } = endpoint;
  const target = hidden({ endpointId: id });
  const to = unseen(`to ${id}`);
  const send = html`${target}<label>Event <select name="type">${options(EVENT_TYPES)}</select></label>
<label class="wide">Body <textarea name="body" rows="3" spellcheck="false" placeholder="Empty: a body for the event. Otherwise sent as it is."></textarea></label>
<div class="wide inline"><button>Send${to}</button><button name="tamper" value="yes" title="Send it with a body that was changed after signing">Send tampered${to}</button></div>`;
  return html`<article class="card" data-key="${id}"><details data-key="endpoint">
<summary>${badge("plain", type)} ${account !== undefined && badge("plain", `account ${account}`)} <code class="grow">${short(url)}</code></summary>
<p class="url"><code class="id">${short(id)}</code>${ip !== undefined && html` <small>from ${ip}</small>`}</p>
${actionForm("events", send, "fields")}
<footer><a href="${linkTo({ ...FIRST_VIEW, endpoint: id }, "deliveries")}">Show its deliveries${unseen(`, endpoint ${id}`)}</a><span class="grow"></span>
${actionForm("deleted-endpoints", html`${target}<button title="Delete it as if somebody had done so outside Pulumi">Delete${unseen(`endpoint ${id}`)}</button>`)}</footer></details></article>`;
}

function registerForm(): Html {
  const form = actionForm(
    "endpoints",
    html`<label class="wide">URL <input name="url" type="url" required placeholder="http://127.0.0.1:8080/jobs"></label>
<label>Type <select name="type">${options(ENDPOINT_TYPES.toReversed())}</select></label>
<label>IP filter <input name="ip" placeholder="none"></label>
<button class="wide">Register the endpoint</button>`,
    "fields",
  );
  return html`<details class="fold"><summary>Register an endpoint</summary>${form}</details>`;
}
