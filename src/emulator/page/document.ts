import { deliveriesSection } from "./deliveriesSection";
import type { History } from "./history";
import { html } from "./html";
import type { PageSource } from "./source";
import type { View } from "./view";

interface DocumentOptions {
  readonly source: PageSource;
  readonly history: History;
  /** The Host header, which is how the browser reaches the page. */
  readonly host: string;
  readonly view: View;
  /** Why an action was refused. */
  readonly alert?: string | undefined;
}

/** Renders the whole page. It depends on the source's state only, so equal documents mean that nothing changed. */
export function renderDocument({ source, history, host, view, alert }: DocumentOptions): string {
  const origin = `http://${host}`;
  const sections = source.sections({ origin, view });
  const jumps = [{ id: "deliveries", title: "Deliveries" }, ...sections].map(
    ({ id, title }) => html`<a href="#${id}">${title}</a>`,
  );
  const { markup } = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${source.title}</title>
<link rel="icon" href="./icon.svg">
<link rel="stylesheet" href="./style.css">
<script src="./script.js" defer></script>
</head>
<body>
<a class="skip" href="#deliveries">Skip to the deliveries</a>
<header class="top">
<img src="./icon.svg" alt="" width="32" height="32">
<div><h1>${source.title}</h1><code>${origin}</code></div>
<output id="live" aria-live="polite"></output><output id="announce" class="unseen" aria-live="polite"></output><span class="grow"></span>
${source.toolbar}
</header>
<nav class="jumps" aria-label="Sections">${jumps}</nav>
<main>
<div id="alert" role="alert">${alert !== undefined && html`<p>${alert}</p>`}</div>
<div>${deliveriesSection(source, history, view)}</div>
<div>${sections.map(({ content }) => content)}</div>
</main>
</body>
</html>`;
  return `<!doctype html>\n${markup}`;
}
