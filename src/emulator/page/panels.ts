import { quoted } from "../../shared/words";
import type { Emulator } from "../emulator";
import { FAULT_KINDS, FAULT_OPERATIONS, FAULTS, type Planted } from "../faults";
import type { LoggedRequest } from "../log";
import { type EmulatedEndpoint, ENDPOINT_TYPES } from "../registry";
import { type Html, html } from "./html";
import {
  actionButton,
  actionForm,
  addressOf,
  badge,
  list,
  live,
  options,
  pre,
  short,
  split,
  time,
  type View,
} from "./layout";

/** The most API requests that the page shows: the newest ones. */
const SHOWN_REQUESTS = 50;
const EVENT_TYPES: readonly string[] = ["job.running", "job.succeeded", "job.failed"];

/** The endpoints of every account, newest first, and one of them. */
export function endpointsTab(endpoints: readonly EmulatedEndpoint[], view: View): Html {
  const form = html`<label>URL <input name="url" type="url" required placeholder="http://127.0.0.1:8080/jobs"></label>
<label>Type <select name="type">${options(ENDPOINT_TYPES, "development")}</select></label>
<button>Register</button>`;
  return split({
    view,
    name: "endpoints",
    emptyHint: "No endpoint yet. Point a stack at this service (see Setup), or register one here.",
    bottom: html`<h2>Register an endpoint</h2>${actionForm("register", { tab: view.tab }, form, "fields")}`,
    items: endpoints.toReversed().map((each) => ({
      key: each.id,
      line: () => endpointLine(each),
      detail: () => endpointDetail(each),
    })),
    count: endpoints.length,
  });
}

function endpointLine({ id, type, url }: EmulatedEndpoint): Html {
  return html`<span class="row">${badge("plain", type)} <strong class="grow">${short(id)}</strong></span>
<span class="row"><code class="grow soft">${short(url)}</code></span>`;
}

function endpointDetail({ id, account, url, type, ip, createdAt }: EmulatedEndpoint): Html {
  const send = html`<label>Event <select name="type">${options(EVENT_TYPES, "job.succeeded")}</select></label>
<label>Body <textarea name="body" rows="4" spellcheck="false" placeholder="Empty: the usual body of the event. Otherwise sent as it is."></textarea></label>
<button class="primary" name="target" value="${id}">Send</button>`;
  return html`<h2>${short(id)} ${badge("plain", type)}</h2>
<dl><dt>URL</dt><dd><code>${short(url, 2000)}</code></dd><dt>IP filter</dt><dd>${ip ?? "none"}</dd>
<dt>Account</dt><dd>${account}</dd><dt>Created</dt><dd>${createdAt}</dd></dl>
<div class="row"><a href="${addressOf({ q: id })}">Show its deliveries</a> ${actionButton("delete", { tab: "endpoints" }, "Delete", id)}</div>
<h3>Send an event</h3>${actionForm("send", {}, send, "fields")}`;
}

/** What is broken, and what was asked. */
export function faultsTab(planted: readonly Planted[], requests: readonly LoggedRequest[], view: View): Html {
  const broken = planted.map(({ number, fault, left, toSkip, hits }) => {
    const isLate = fault.kind === "delay" || fault.kind === "late-commit";
    const detail = fault.kind === "status" ? ` ${fault.status}` : isLate ? ` ${fault.delayMs} ms` : "";
    const times = Number.isFinite(left) ? `${left} more` : "until removed";
    return html`<div class="row">${badge("bad", `${fault.kind}${detail}`)}
<span class="grow">${[fault.operation, fault.id].filter(Boolean).join(" ")}: ${times}${toSkip > 0 && `, after ${toSkip} requests`}, ${hits} so far</span>
${actionButton("remove-fault", view, `Remove fault ${number}`, number)}</div>`;
  });
  const kinds = FAULT_KINDS.map((kind) => {
    const { client, effect } = FAULTS[kind];
    return html`<option value="${kind}">${kind}: ${client}; ${effect ? "takes effect" : "no effect"}</option>`;
  });
  const form = html`<label>Requests <select name="operation">${options(FAULT_OPERATIONS)}</select></label>
<label>Fault <select name="kind">${kinds}</select></label>
<label>How often <input name="times" type="number" min="1" value="1" placeholder="until removed"></label>
<label>Status, for the fault status <input name="status" type="number" min="200" max="599" value="503"></label>
<label class="row"><input name="effect" type="checkbox"> The fault status takes effect</label>
<label>Delay in ms, for delay and late-commit <input name="delayMs" type="number" min="0" max="999999999" value="2000"></label>
<button class="primary">Plant the fault</button>`;
  const newest = requests.slice(-SHOWN_REQUESTS).reverse();
  const asked = newest.map(({ at, method, path, statusCode, fault }) => {
    const tone = statusCode === null ? "busy" : statusCode < 400 ? "good" : "bad";
    return html`<div class="row">${time(at)} <code class="grow">${method} ${short(path, 80)}</code>
${fault !== undefined && badge("bad", fault)} ${badge(tone, statusCode ?? "no answer")}</div>`;
  });
  const none = (text: string) => [html`<p class="soft">${text}</p>`];
  return html`<div class="split"><section><h2>Faults</h2>
${live("faults", list(broken.length > 0 ? broken : none("None: the service works as it should.")))}
<h3>Break the service</h3>${actionForm("plant-fault", view, form, "fields")}</section>
<section><h2>API requests</h2>${live("requests", list(asked.length > 0 ? asked : none("None yet.")))}
${actionButton("clear-requests", view, "Clear the requests")}</section></div>`;
}

/** The settings that point a stack at this emulator, and its signing secrets, which open nothing else. */
export function setupTab({ secrets, apiKey }: Emulator, view: View, origin: string): Html {
  const rows = ENDPOINT_TYPES.flatMap((type) =>
    secrets(type).map((secret, index) => {
      const age = index === 0 ? badge("good", "newest") : badge("plain", "signs too");
      return html`<div class="row">${badge("plain", type)} ${age} <code class="grow">${secret}</code></div>`;
    }),
  );
  const commands = `pulumi config set webhooks:baseUrl ${quoted(origin)}
pulumi config set --secret webhooks:apiKey ${quoted(apiKey)}
pulumi config set --secret signingSecret ${quoted(secrets()[0] ?? "")}`;
  return html`<div class="split"><section><h2>Point a stack here</h2>
<p class="soft">Run these in the folder of your Pulumi program.</p>${pre("commands", commands)}</section>
<section><h2>Signing secrets</h2>${live("secrets", list(rows))}
<div class="row">${actionButton("rotate", view, "Rotate the secret")}
${actionButton("finish-rotation", view, "Drop the old ones")}</div></section></div>`;
}
