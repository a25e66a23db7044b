import type { RequestListener } from "node:http";
import {
  actionButton,
  actionForm,
  addressOf,
  badge,
  deliveryPage,
  type Html,
  html,
  list,
  options,
  pre,
  short,
  time,
} from "../page";
import { quoted } from "../shared/commandLine";
import { ENDPOINT_TYPES } from "../shared/endpointType";
import { parseJson } from "../shared/json";
import { fingerprintOf } from "../signature/secret";
import { validateRegistration } from "./api";
import type { Deliveries } from "./deliveries";
import type { LoggedAttempt } from "./deliveryRecord";
import type { Emulator } from "./emulatorInterface";
import { FAULT_KINDS, FAULT_OPERATIONS, FAULTS, type FaultOptions, type Faults } from "./faults";
import type { Parts } from "./options";

export const PAGE_TITLE = "Webhook emulator";
/** The page reads so many attempts, the newest. */
const READ_ATTEMPTS = 2_000;
/** The most endpoints and API requests that the page shows: the newest ones. */
const SHOWN = 100;
/** The body that the form to send an event begins with. */
const EVENT = '{\n  "type": "job.succeeded",\n  "data": { "jobId": "job_1", "status": "succeeded" }\n}';

/** The page of an emulator: the deliveries that it sends, and tabs to watch and to break the service. */
export function emulatorPage(emulator: Emulator, deliveries: Deliveries, parts: Parts): RequestListener {
  const { faults, secrets } = parts;
  const buttons = html`<button class="primary" name="outcome" value="succeeded">Run a job</button>
<button name="outcome" value="failed">Run a failing job</button>`;
  return deliveryPage({
    title: PAGE_TITLE,
    emptyHint: "No delivery yet. Run a job, and its signed events appear here.",
    toolbar: actionForm("run-job", {}, buttons, "row"),
    // An attempt that waits for its response may be older than others.
    attempts: () =>
      [...emulator.deliveries.slice(-READ_ATTEMPTS), ...deliveries.open].sort((a, b) => a.number - b.number),
    tabs: [
      { id: "endpoints", title: "Endpoints", render: () => endpointsTab(emulator) },
      { id: "faults", title: "Faults and requests", render: () => faultsTab(emulator, faults) },
      { id: "setup", title: "Setup", render: () => setupTab(emulator) },
    ],
    actions: {
      replay: (_form, attempt) => deliveries.replay(attempt() as LoggedAttempt),
      tamper(_form, attempt) {
        const { event, id, endpointId, body } = attempt();
        return emulator.deliver({ event, id, endpointId, body: String(body), tamper: true });
      },
      // As new attempts: a replay keeps its old signature, and does not count.
      "all-failed": (_form, _attempt, failed) =>
        Promise.all(
          failed().map(({ event, id, endpointId, body }) =>
            emulator.deliver({ event, id, endpointId, body: String(body) }),
          ),
        ),
      clear: () => emulator.clearDeliveries(),
      "run-job"(form) {
        if (emulator.endpoints().length === 0)
          throw new Error("Cannot run a job: no endpoint is registered.");
        return emulator.runJob({ outcome: form.get("outcome") === "failed" ? "failed" : "succeeded" });
      },
      send(form) {
        // Browsers end the lines of a form with CR LF.
        const body = (form.get("body") ?? "").replaceAll("\r\n", "\n");
        const { type = "no type" } = Object(parseJson(body));
        return emulator.deliver({ event: String(type), body, endpointId: form.get("target") ?? "" });
      },
      register(form) {
        const validated = validateRegistration({ url: form.get("url"), type: form.get("type") });
        if ("problem" in validated) throw new Error(`Cannot register an endpoint: ${validated.problem}`);
        emulator.add(validated.input);
      },
      delete: (form) => emulator.remove(form.get("target") ?? ""),
      "add-fault"(form) {
        const { operation, kind } = Object.fromEntries(form);
        const [status, delayMs] = [Number(form.get("status")), Number(form.get("delayMs"))];
        const times = Number(form.get("times") || Infinity);
        emulator.fault({ operation, kind, times, status, delayMs } as FaultOptions);
      },
      "remove-fault": (form) => faults.entries.get(Number(form.get("target")))?.remove(),
      "clear-requests": () => emulator.clearRequests(),
      rotate: () => emulator.rotateSecret(),
      "finish-rotation": () => secrets.keepNewest(),
    },
  });
}

/** The endpoints of every account, newest first, and what can be done with them. */
function endpointsTab(emulator: Emulator): Html {
  const view = { tab: "endpoints" };
  const endpoints = emulator.endpoints().slice(-SHOWN).reverse();
  const rows = endpoints.map(
    ({ id, account, url, type, ip, createdAt }) => html`<div class="row">${badge("plain", type)}
<a id="of${id}" class="grow" href="${addressOf({ q: id })}">${short(id)}</a> ${actionButton("delete", view, "Delete", id)}</div>
<code>${short(url)}</code><p class="soft">of ${account}, created ${createdAt}${ip !== undefined && `, for ${ip}`}</p>`,
  );
  const targets = endpoints.map(
    ({ id, url }) => html`<option value="${id}">${short(`${id}: ${url}`, 60)}</option>`,
  );
  const none = "None yet. Point a stack at this service (see Setup), or register one here.";
  const event = html`<label id="targets" data-live>Endpoint <select name="target" required>${targets}</select></label>
<label>Body <textarea name="body" rows="6" spellcheck="false">${EVENT}</textarea></label>
<button class="primary">Send</button>`;
  const endpoint = html`<label>URL <input name="url" type="url" required placeholder="http://127.0.0.1:8080/jobs"></label>
<label>Type <select name="type">${options(ENDPOINT_TYPES, "development")}</select></label>
<button>Register</button>`;
  return html`<div class="split"><section><h2>Endpoints</h2>${list("endpoints", rows, none)}</section>
<section><h2>Send an event</h2>${actionForm("send", {}, event)}
<h2>Register an endpoint</h2>${actionForm("register", view, endpoint)}</section></div>`;
}

/** What is broken, and what was asked. */
function faultsTab({ requests }: Emulator, { entries }: Faults): Html {
  const view = { tab: "faults" };
  const broken = [...entries].map(([number, { options, left, hits }]) => {
    const { operation, id, kind, status, delayMs } = options;
    const isLate = kind === "delay" || kind === "late-commit";
    const detail = kind === "status" ? ` ${status}` : isLate && ` ${delayMs} ms`;
    const times = Number.isFinite(left) ? `${left} more` : "until removed";
    return html`<div class="row">${badge("bad", [kind, detail])}
<span class="grow">${operation}${id !== undefined && ` ${id}`}: ${times}, ${hits} so far</span>
${actionButton("remove-fault", view, "Remove", number)}</div>`;
  });
  const kinds = FAULT_KINDS.map((kind) => {
    const { client, effect } = FAULTS[kind];
    return html`<option value="${kind}">${kind}: ${client}; ${effect ? "takes effect" : "no effect"}</option>`;
  });
  const form = html`<label>Requests <select name="operation">${options(FAULT_OPERATIONS)}</select></label>
<label>Fault <select name="kind">${kinds}</select></label>
<label>How often <input name="times" type="number" min="1" value="1" placeholder="until removed"></label>
<label>Status, for the fault status <input name="status" type="number" min="200" max="599" value="503"></label>
<label>Delay in ms, for delay and late-commit <input name="delayMs" type="number" min="0" max="999999999" value="2000"></label>
<button class="primary">Add the fault</button>`;
  const newest = requests.slice(-SHOWN).reverse();
  const asked = newest.map(({ at, method, path, status, fault }) => {
    const tone = status === null ? "busy" : status < 400 ? "good" : "bad";
    return html`<div class="row">${time(at)} <code class="grow">${method} ${short(path, 80)}</code>
${fault !== undefined && badge("bad", fault)} ${badge(tone, status ?? "no response")}</div>`;
  });
  return html`<div class="split"><section><h2>Faults</h2>
${list("faults", broken, "None: the service works as it should.")}
<h3>Break the service</h3>${actionForm("add-fault", view, form)}</section>
<section><h2>API requests</h2>${list("requests", asked, "None yet.")}
${actionButton("clear-requests", view, "Clear the requests")}</section></div>`;
}

/** Returns the commands that point a stack at an emulator. */
export function setupCommands({ url, apiKey, secrets }: Emulator): string[] {
  return [
    `pulumi config set webhooks:baseUrl ${quoted(url)}`,
    `pulumi config set --secret webhooks:apiKey ${quoted(apiKey)}`,
    `pulumi config set --secret signingSecret ${quoted(secrets()[0] ?? "")}`,
  ];
}

/** The settings that point a stack at this emulator, and its signing secrets, which open nothing else. */
function setupTab(emulator: Emulator): Html {
  const view = { tab: "setup" };
  const rows = ENDPOINT_TYPES.flatMap((type) =>
    emulator.secrets(type).map(
      (secret) => html`<div class="row">${badge("plain", type)} <code class="grow">${secret}</code>
<span class="soft">fingerprint <code>${fingerprintOf([secret])}</code></span></div>`,
    ),
  );
  return html`<div class="split"><section><h2>Point a stack here</h2>
<p class="soft">Run these in the folder of your Pulumi program.</p>${pre("commands", setupCommands(emulator).join("\n"))}</section>
<section><h2>Signing secrets, newest first</h2>${list("secrets", rows, "None.")}
<div class="row">${actionButton("rotate", view, "Rotate the secret")}
${actionButton("finish-rotation", view, "Drop the old ones")}</div></section></div>`;
}
