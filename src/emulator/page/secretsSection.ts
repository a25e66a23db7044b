import type { Secrets } from "../deliveries/secrets";
import type { EmulatedEndpointType } from "../endpoint";
import { ENDPOINT_TYPES } from "./actions";
import { type Html, html } from "./html";
import { actionForm, badge, section } from "./parts";

/** The signing secrets open nothing but this emulator, so the page shows them. */
export function secretsSection(secrets: Secrets): Html {
  const [first = []] = ENDPOINT_TYPES.map((type) => secrets.of(type));
  const alike = ENDPOINT_TYPES.every((type) => secrets.of(type).join() === first.join());
  const rotating = ENDPOINT_TYPES.some((type) => secrets.of(type).length > 1);
  const items = alike
    ? secretRows(first)
    : ENDPOINT_TYPES.flatMap((type) => secretRows(secrets.of(type), type));
  const actions = html`<div class="row" data-key="actions">${actionForm("rotations", html`<button>Rotate the secret</button>`)}
${rotating && actionForm("finished-rotations", html`<button>Finish the rotation</button>`)}</div>`;
  const note = rotating ? "rotating: each of them signs" : undefined;
  return section({ id: "secrets", title: "Signing secret", note }, [...items, actions]);
}

function secretRows(secrets: readonly string[], type?: EmulatedEndpointType): Html[] {
  return secrets.map((secret, index) => {
    const age = secrets.length > 1 && badge(index === 0 ? "good" : "plain", index === 0 ? "new" : "old");
    return html`<p class="row" data-key="${type ?? ""}${secret}">${type !== undefined && badge("plain", type)} ${age}
<code class="secret">${secret}</code></p>`;
  });
}
