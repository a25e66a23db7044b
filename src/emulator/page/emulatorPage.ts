import type { RequestListener } from "node:http";
import { parseJson } from "../../shared/json";
import { validateRegistration } from "../api";
import type { Deliveries } from "../deliveries";
import type { Emulator } from "../emulator";
import type { LoggedAttempt } from "../event";
import type { Fault, Faults } from "../faults";
import { ENDPOINT_TYPES } from "../registry";
import type { ShownAttempt } from "./attempts";
import { html } from "./html";
import { actionForm } from "./layout";
import { endpointsTab, faultsTab, setupTab } from "./panels";
import { type Action, deliveryPage, PAGE_PATH } from "./server";

/** The page reads so many attempts, the newest. */
const READ_ATTEMPTS = 2_000;

/** The page of an emulator: the deliveries that it sends, and tabs to watch and to break the service. */
export function emulatorPage(emulator: Emulator, deliveries: Deliveries, faults: Faults): RequestListener {
  const source = {
    title: "Webhook emulator",
    emptyHint: "No delivery yet. Run a job, and its signed events appear here.",
    // An attempt that waits for its answer may be older than others.
    attempts: () =>
      [...emulator.deliveries.slice(-READ_ATTEMPTS), ...deliveries.open].sort((a, b) => a.number - b.number),
    replay: (attempt: ShownAttempt) => deliveries.replay(attempt as LoggedAttempt),
    tamper: ({ type, id, endpointId, body }: ShownAttempt) =>
      emulator.deliver({ type, id, endpointId, body: String(body), tamper: true }),
    clear: () => emulator.clearDeliveries(),
  };
  const buttons = html`<button class="primary" name="outcome" value="succeeded">Run a job</button>
<button name="outcome" value="failed">Run a failing job</button>`;
  return deliveryPage(source, PAGE_PATH, {
    toolbar: actionForm("run-job", {}, buttons),
    tabs: [
      { id: "endpoints", title: "Endpoints", render: (view) => endpointsTab(emulator.endpoints(), view) },
      {
        id: "faults",
        title: "Faults and requests",
        render: (view) => faultsTab(faults.planted, emulator.requests, view),
      },
      { id: "setup", title: "Setup", render: (view, origin) => setupTab(emulator, view, origin) },
    ],
    actions: actionsOf(emulator, faults),
  });
}

function actionsOf(emulator: Emulator, faults: Faults): Readonly<Record<string, Action>> {
  return {
    "run-job"(form) {
      const accounts = new Set(emulator.endpoints().map(({ account }) => account));
      if (accounts.size === 0) throw new Error("Cannot run a job: no endpoint is registered.");
      const outcome = form.get("outcome") === "failed" ? "failed" : "succeeded";
      return Promise.all([...accounts].map((account) => emulator.runJob({ outcome, account })));
    },
    /** Sends an event to one endpoint, with a body of its own if the form has one. */
    send(form) {
      const chosen = form.get("type") ?? "";
      // Browsers end the lines of a form with CR LF.
      const body = (form.get("body") ?? "").replaceAll("\r\n", "\n");
      const { type } = Object(parseJson(body));
      const usual = {
        type: chosen,
        data: { jobId: "job_from_the_page", status: chosen.replace(/^job\./, "") },
      };
      const event = body === "" ? usual : { type: typeof type === "string" ? type : chosen, body };
      return emulator.deliver({ ...event, endpointId: form.get("target") ?? "" });
    },
    register(form) {
      const validated = validateRegistration({ url: form.get("url"), type: form.get("type") });
      if ("problem" in validated) throw new Error(`Cannot register an endpoint: ${validated.problem}`);
      emulator.add(validated.input);
    },
    delete: (form) => emulator.remove(form.get("target") ?? ""),
    "plant-fault"(form) {
      const { operation, kind, times } = Object.fromEntries(form);
      const [status, delayMs] = [Number(form.get("status")), Number(form.get("delayMs"))];
      const more = { times: Number(times || Infinity), status, delayMs, effect: form.has("effect") };
      emulator.fault({ operation, kind, ...more } as Fault);
    },
    "remove-fault": (form) =>
      faults.planted.find(({ number }) => String(number) === form.get("target"))?.remove(),
    "clear-requests": () => emulator.clearRequests(),
    rotate: () => void emulator.rotateSecret(),
    "finish-rotation"() {
      for (const type of ENDPOINT_TYPES)
        emulator.rotateSecret({ type, secret: emulator.secrets(type)[0] ?? "" }).finish();
    },
  };
}
