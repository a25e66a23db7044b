import { PAGE_PATH, type PageContext } from "./context";
import { deliveriesSection } from "./deliveriesSection";
import { endpointsSection } from "./endpointsSection";
import { faultsSection } from "./faultsSection";
import type { History } from "./history";
import { type Html, html } from "./html";
import { actionForm, section } from "./parts";
import { requestsSection } from "./requestsSection";
import { secretsSection } from "./secretsSection";

/** How many deliveries a page shows. */
const DELIVERIES_PER_PAGE = 25;

export interface DocumentOptions {
  readonly context: PageContext;
  readonly history: History;
  /** The Host header, which is how the browser reaches the emulator. */
  readonly host: string;
  readonly page: number;
  /** Why an action was refused. */
  readonly alert?: string | undefined;
}

/** Renders the whole page. It depends on the emulator's state only, so equal documents mean that nothing changed. */
export function renderDocument({ context, history, host, page, alert }: DocumentOptions): string {
  const { registry, deliveries, secrets, faults, requests, homeAccount, basePath, apiKey } = context;
  const attempts = { logged: deliveries.log.entries, open: deliveries.open };
  const shown = history.page(attempts, { page, size: DELIVERIES_PER_PAGE });
  const url = `http://${host}${basePath}`;
  const { markup } = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Webhook emulator</title>
<link rel="icon" href="${PAGE_PATH}icon.svg">
<link rel="stylesheet" href="${PAGE_PATH}style.css">
<script src="${PAGE_PATH}script.js" defer></script>
</head>
<body>
<a class="skip" href="#deliveries">Skip to the deliveries</a>
<header class="top">
<img src="${PAGE_PATH}icon.svg" alt="" width="32" height="32">
<div><h1>Webhook emulator</h1><code>${url}</code></div>
<output id="live" aria-live="polite"></output><span class="grow"></span>
${actionForm(
  "jobs",
  html`<button class="primary" name="outcome" value="succeeded">Run a job</button>
<button name="outcome" value="failed">Run a failing job</button>`,
)}
</header>
<div id="alert" role="alert">${alert !== undefined && html`<p>${alert}</p>`}</div>
<main>
<div>${deliveriesSection(shown, registry)}</div>
<div>${endpointsSection(registry, homeAccount)}${faultsSection(faults)}${requestsSection(requests.entries)}${secretsSection(secrets)}
${settingsSection(url, apiKey(), secrets.of("production")[0] ?? "")}</div>
</main>
</body>
</html>`;
  return `<!doctype html>\n${markup}`;
}

/** The settings that point a stack at this emulator. */
function settingsSection(url: string, apiKey: string, secret: string): Html {
  const commands = [
    `pulumi config set webhooks:baseUrl ${url}`,
    `pulumi config set --secret webhooks:apiKey ${apiKey}`,
    `pulumi config set --secret signingSecret ${secret}`,
  ];
  return section({ id: "settings", title: "Settings", note: "for a stack" }, [
    html`<pre tabindex="0" data-key="commands">${commands.join("\n")}</pre>`,
  ]);
}
