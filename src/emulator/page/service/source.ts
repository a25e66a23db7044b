import { html } from "../html";
import { actionForm } from "../parts";
import type { PageSource } from "../source";
import { ACTIONS, type PageContext } from "./actions";
import { endpointsSection } from "./endpointsSection";
import { faultsSection } from "./faultsSection";
import { requestsSection, secretsSection, settingsSection } from "./serviceSections";

export function emulatorSource(context: PageContext): PageSource {
  const { registry, deliveries, secrets, faults, requests, basePath, apiKey, now } = context;
  return {
    title: "Webhook emulator",
    emptyHint: "Run a job, and its signed events appear here.",
    now,
    logged: () => deliveries.log.entries,
    open: () => deliveries.open,
    endpoints: () => new Map(registry.list().map((each) => [each.id, each])),
    toolbar: actionForm(
      "jobs",
      html`<button class="primary" name="outcome" value="succeeded">Run a job</button>
<button name="outcome" value="failed">Run a failing job</button>`,
    ),
    sections: ({ origin, view }) => [
      { id: "endpoints", title: "Endpoints", content: endpointsSection(context, view) },
      { id: "faults", title: "Faults", content: faultsSection(faults) },
      { id: "requests", title: "Requests", content: requestsSection(requests.entries) },
      { id: "secrets", title: "Secret", content: secretsSection(secrets) },
      {
        id: "settings",
        title: "Settings",
        content: settingsSection({
          url: `${origin}${basePath}`,
          apiKey: apiKey(),
          secret: secrets.of("production")[0] ?? "",
        }),
      },
    ],
    actions: new Map([...ACTIONS].map(([name, action]) => [name, (form) => action(form, context)])),
  };
}
