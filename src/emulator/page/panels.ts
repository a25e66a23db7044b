import { quoted } from "../../shared/words";
import { FAULT_KINDS, FAULT_OPERATIONS, FAULTS } from "../faults";
import { type EmulatedEndpoint, ENDPOINT_TYPES } from "../registry";
import type { PageContext } from "./actions";
import { type Html, html } from "./html";
import {
  actionForm,
  addressOf,
  badge,
  hidden,
  list,
  live,
  options,
  pre,
  short,
  split,
  time,
  type View,
} from "./layout";

/** The most endpoints and API requests that the page shows: the newest ones. */
const SHOWN_ENDPOINTS = 100;
const SHOWN_REQUESTS = 50;
const EVENT_TYPES: readonly string[] = ["job.running", "job.succeeded", "job.failed"];

/** The endpoints of every account, newest first, and one of them. */
export function endpointsTab({ registry }: PageContext, view: View): Html {
  const all = registry.list().reverse();
  const shown = all.slice(0, SHOWN_ENDPOINTS);
  const chosen = all.find(({ id }) => id === view.e);
  const current = chosen ?? all[0];
  const form = html`<label class="wide">URL <input name="url" type="url" required placeholder="http://127.0.0.1:8080/jobs"></label>
<label>Type <select name="type">${options(ENDPOINT_TYPES, "development")}</select></label>
<label>IP filter <input name="ip" placeholder="none"></label><button class="wide">Register</button>`;
  return split({
    name: "Endpoints",
    count:
      all.length === 0
        ? "No endpoint yet. Point a stack at this service (see Setup) and run pulumi up, or register one here."
        : `${shown.length} of ${all.length} endpoints`,
    items: shown.map((each) => endpointItem(each, each === current, view)),
    bottom: html`<details${all.length === 0 && html` open`}><summary>Register an endpoint</summary>
${actionForm("register", { tab: view.tab }, form, "fields")}</details>`,
    detail: current && endpointDetail(current, registry.found(current.id, "show").account),
    isChosen: chosen !== undefined,
  });
}

function endpointItem({ id, url, type }: EmulatedEndpoint, isCurrent: boolean, { tab }: View): Html {
  return html`<a id="${id}" href="${addressOf({ tab, e: id })}"${isCurrent && html` aria-current="true"`}>
<span class="line">${badge("plain", type)} <strong class="grow">${short(id)}</strong></span>
<span class="line"><code class="grow">${short(url)}</code></span></a>`;
}

function endpointDetail({ id, url, type, ip, createdAt }: EmulatedEndpoint, account: string): Html {
  const target = hidden("endpointId", id);
  const send = html`${target}<label>Event <select name="type">${options(EVENT_TYPES, "job.succeeded")}</select></label>
<label class="wide">Body <textarea name="body" rows="4" spellcheck="false" placeholder="Empty: the usual body of the event. Otherwise sent as it is."></textarea></label>
<div class="wide actions"><button class="primary">Send</button>
<button name="tamper" value="yes" title="Change the body after signing">Send tampered</button></div>`;
  const remove = html`${target}<button title="As if somebody had deleted it outside Pulumi">Delete</button>`;
  return html`<a class="back" href="./?tab=endpoints">← All endpoints</a><h2>${short(id)} ${badge("plain", type)}</h2>
<dl><dt>URL</dt><dd><code>${short(url, 2000)}</code></dd><dt>IP filter</dt><dd>${ip ?? "none"}</dd>
<dt>Account</dt><dd>${account}</dd><dt>Created</dt><dd>${createdAt}</dd></dl>
<div class="actions"><a href="${addressOf({ q: id })}">Show its deliveries</a> ${actionForm("delete", { tab: "endpoints" }, remove)}</div>
<h3>Send an event</h3>${actionForm("send", { tab: "endpoints", e: id }, send, "fields")}`;
}

/** What is broken, and what was asked. */
export function faultsTab({ faults, requests }: PageContext, view: View): Html {
  const planted = faults.planted.map(({ number, fault, left, toSkip, hits }) => {
    const detail = "status" in fault ? ` ${fault.status}` : "delayMs" in fault ? ` ${fault.delayMs} ms` : "";
    const times = Number.isFinite(left) ? `${left} more` : "until removed";
    const remove = html`${hidden("number", number)}<button id="f${number}">Remove fault ${number}</button>`;
    return html`<div class="row">${badge("bad", `${fault.kind}${detail}`)}
<span class="grow">${[fault.operation, fault.id].filter(Boolean).join(" ")}: ${times}${toSkip > 0 && `, after ${toSkip} requests`}, ${hits} so far</span>
${actionForm("remove-fault", view, remove)}</div>`;
  });
  const kinds = FAULT_KINDS.map((kind) => {
    const { client, effect } = FAULTS[kind];
    return html`<option value="${kind}">${kind}: ${client}; ${effect ? "takes effect" : "no effect"}</option>`;
  });
  // The fields of other kinds are hidden by the style sheet.
  const form = html`<label>Requests <select name="operation">${options(FAULT_OPERATIONS)}</select></label>
<label>How often <input name="times" type="number" min="1" max="999999999" value="1" placeholder="until removed"></label>
<label class="wide">Fault <select name="kind">${kinds}</select></label>
<label class="for-status">Status <input name="status" type="number" min="200" max="599" value="503"></label>
<label class="for-status check"><input name="effect" type="checkbox"> with the effect</label>
<label class="for-delay">Delay in ms <input name="delayMs" type="number" min="0" max="999999999" value="2000"></label>
<button class="wide primary">Plant the fault</button>`;
  const newest = requests.entries.slice(-SHOWN_REQUESTS).reverse();
  const asked = newest.map(({ at, method, path, statusCode, fault }) => {
    const tone = statusCode === null ? "busy" : statusCode < 400 ? "good" : "bad";
    return html`<div class="row">${time(at)} <code class="grow">${method} ${short(path, 80)}</code>
${fault !== undefined && badge("bad", fault)} ${badge(tone, statusCode ?? "no answer")}</div>`;
  });
  const none = (text: string) => [html`<div class="row soft">${text}</div>`];
  return html`<div class="split even"><section><h2>Faults</h2>
${live("faults", list(planted.length > 0 ? planted : none("None: the service works as it should.")))}
<h3>Break the service</h3>${actionForm("plant-fault", view, form, "fields")}</section>
<section><h2>API requests</h2>${live("requests", list(asked.length > 0 ? asked : none("None yet.")))}
${actionForm("clear-requests", view, html`<button>Clear the requests</button>`)}</section></div>`;
}

/** The settings that point a stack at this emulator, and its signing secrets, which open nothing else. */
export function setupTab({ secrets, apiKey }: PageContext, view: View, origin: string): Html {
  const rows = ENDPOINT_TYPES.flatMap((type) =>
    secrets.of(type).map((secret, index) => {
      const age = index === 0 ? badge("good", "newest") : badge("plain", "signs too");
      return html`<div class="row">${badge("plain", type)} ${age} <code class="grow">${secret}</code></div>`;
    }),
  );
  const commands = `pulumi config set webhooks:baseUrl ${quoted(origin)}
pulumi config set --secret webhooks:apiKey ${quoted(apiKey())}
pulumi config set --secret signingSecret ${quoted(secrets.of("production")[0] ?? "")}`;
  return html`<div class="split even"><section><h2>Point a stack here</h2>
<p class="soft">Run these in the folder of your Pulumi program.</p>${pre("commands", commands)}</section>
<section><h2>Signing secrets</h2>${live("secrets", list(rows))}
<div class="actions">${actionForm("rotate", view, html`<button>Rotate the secret</button>`)}
${actionForm("finish-rotation", view, html`<button>Drop the old ones</button>`)}</div></section></div>`;
}
