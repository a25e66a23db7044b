import type { RequestListener } from "node:http";
import type { LoggedAttempt } from "../event";
import { actionsOf, briefly, type PageContext } from "./actions";
import { READ_ATTEMPTS, type ShownAttempt } from "./attempts";
import { html } from "./html";
import { actionForm } from "./layout";
import { endpointsTab, faultsTab, setupTab } from "./panels";
import { deliveryPage, PAGE_PATH } from "./server";

/** The page of an emulator: the deliveries that it sends, and tabs to watch and to break the service. */
export function emulatorPage(context: PageContext): RequestListener {
  const { deliveries, timers, now } = context;
  const source = {
    title: "Webhook emulator",
    emptyHint: "No delivery yet. Run a job, and its signed events appear here.",
    now,
    // An attempt that waits for its answer may be older than others.
    attempts: () =>
      [...deliveries.log.entries.slice(-READ_ATTEMPTS), ...deliveries.open].sort(
        (a, b) => a.number - b.number,
      ),
    replay: (attempt: ShownAttempt) => briefly(deliveries.replay(attempt as LoggedAttempt), timers),
    tamper({ type, id, endpointId, body }: ShownAttempt) {
      const event = { type, id, endpointId, body: String(body), tamper: true };
      return briefly(deliveries.dispatch(event).attempted, timers);
    },
    clear: () => deliveries.log.clear(),
  };
  const buttons = html`<button class="primary" name="outcome" value="succeeded">Run a job</button>
<button name="outcome" value="failed">Run a failing job</button>`;
  return deliveryPage(source, PAGE_PATH, {
    toolbar: actionForm("run-job", {}, buttons),
    tabs: [
      { id: "endpoints", title: "Endpoints", render: (view) => endpointsTab(context, view) },
      { id: "faults", title: "Faults and requests", render: (view) => faultsTab(context, view) },
      { id: "setup", title: "Setup", render: (view, origin) => setupTab(context, view, origin) },
    ],
    actions: actionsOf(context),
  });
}
