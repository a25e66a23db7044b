/**
 * The page's script. The page works without it. The server alone renders: the script fetches the page again and replaces the parts
 * that changed, so that open details and the focus stay, and filters while somebody types. A part in which somebody types, or holds a
 * button of the mouse down, waits: a click on what is replaced meanwhile would be lost.
 */
export const SCRIPT = `"use strict";
const EVERY_MS = 1000;
const live = document.getElementById("live");

function replace(part, next) {
  part.rendered = next.innerHTML; // before somebody folded or chose something in it
  const folds = new Map([...part.querySelectorAll("details")].map((fold) => [fold.id, fold.open]));
  for (const fold of next.querySelectorAll("details")) fold.open = folds.get(fold.id) ?? fold.open;
  const focused = part.contains(document.activeElement) ? document.activeElement.id : undefined;
  part.replaceChildren(...next.childNodes);
  if (focused) (document.getElementById(focused) ?? part).focus({ preventScroll: true });
}

async function refresh() {
  try {
    const response = await fetch("./" + location.search, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = page.getElementById(part.id);
      const isInUse = part.querySelector(":is(input, select, textarea):focus, :active");
      const rendered = part.rendered ?? part.innerHTML;
      if (next && !isInUse && next.innerHTML !== rendered) replace(part, next);
    }
    if (live.textContent !== "live") live.textContent = "live";
  } catch {
    live.textContent = "not connected";
  }
}

document.addEventListener("input", ({ target }) => {
  if (!target.form?.matches(".filter")) return;
  const query = new URLSearchParams([...new FormData(target.form)].filter(([, value]) => value !== ""));
  history.replaceState(null, "", query.size === 0 ? "./" : "./?" + query);
  refresh();
});
setInterval(() => document.hidden || refresh(), EVERY_MS);
refresh();
`;
