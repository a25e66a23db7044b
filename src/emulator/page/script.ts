/**
 * The page's script. The page works without it; the script keeps the lists up to date, sends forms without leaving the
 * page, and counts down to the next attempts. The server alone renders: the script fetches the page again and puts
 * changed items in place, so that open details, the focus and half-filled forms stay.
 */
export const SCRIPT = `"use strict";
const EVERY_MS = 500;
const TYPING_MS = 250;
const COPIED_MS = 1500;
const live = document.getElementById("live");
const announce = document.getElementById("announce");
const shown = new Map(); // what the server rendered, by list and key
let etag = "";
let clockAhead = 0; // of the emulator's clock, in milliseconds
let refreshing;

const itemsOf = (list) => new Map([...list.children].map((item) => [item.dataset.key, item]));
const nameOf = (list, key) => list.dataset.list + " " + key;
const controlsOf = (item) => [...item.querySelectorAll("a, button, input, select, textarea, summary, pre")];
const FIELDS = "input:not([type=hidden]), select, textarea";

/** Finds the focused control of an item again, by its place in its own part of the item: a new attempt puts others in front of it. */
function focusedIn(old, next) {
  const controls = controlsOf(old);
  if (!controls.includes(document.activeElement)) return undefined;
  const partOf = (control) => control.closest("[data-key]").dataset.key;
  const isNear = (control) => partOf(control) === partOf(document.activeElement);
  return controlsOf(next).filter(isNear)[controls.filter(isNear).indexOf(document.activeElement)];
}

function replace(old, next) {
  const folds = new Map([...old.querySelectorAll("details")].map((fold) => [fold.dataset.key, fold.open]));
  for (const fold of next.querySelectorAll("details")) fold.open = folds.get(fold.dataset.key) ?? fold.open;
  const fields = [...old.querySelectorAll(FIELDS)];
  next.querySelectorAll(FIELDS).forEach((field, index) => {
    if (fields[index]?.name === field.name) field.value = fields[index].value;
  });
  const [start, end] = [document.activeElement.selectionStart, document.activeElement.selectionEnd];
  const control = focusedIn(old, next);
  old.replaceWith(next);
  control?.focus({ preventScroll: true });
  if (start !== null && start !== undefined) control?.setSelectionRange?.(start, end);
}

function updateList(list, next) {
  const old = itemsOf(list);
  const items = itemsOf(next);
  // First: otherwise those below one that goes would be moved, and lose the focus.
  for (const [key, item] of old) if (!items.has(key)) remove(item, nameOf(list, key));
  let place = list.firstElementChild;
  for (const [key, item] of items) {
    const rendered = item.outerHTML;
    const current = old.get(key);
    let kept = item;
    if (current === undefined) list.insertBefore(item, place);
    else {
      if (current === place) place = place.nextElementSibling;
      else list.insertBefore(current, place);
      if (shown.get(nameOf(list, key)) === rendered) kept = current;
      else replace(current, item);
    }
    if (kept === item && !shown.has(nameOf(list, key))) item.classList.add("arrived");
    shown.set(nameOf(list, key), rendered);
  }
}

/** Removes an item. If it has the focus, the item beside it gets it. */
function remove(item, name) {
  const beside = item.nextElementSibling ?? item.previousElementSibling;
  if (item.contains(document.activeElement)) beside && controlsOf(beside)[0]?.focus({ preventScroll: true });
  item.remove();
  shown.delete(name);
}

function update(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const list of document.querySelectorAll("[data-list]")) {
    const next = page.querySelector('[data-list="' + list.dataset.list + '"]');
    if (next) updateList(list, next);
  }
  countDown();
  return page;
}

function countDown() {
  const now = Date.now() + clockAhead;
  for (const time of document.querySelectorAll(".next time")) {
    const seconds = Math.ceil((Date.parse(time.dateTime) - now) / 1000);
    time.textContent = seconds > 0 ? "in " + seconds + " s" : "now";
  }
}

async function refresh() {
  try {
    const headers = { accept: "text/html", "if-none-match": etag };
    const response = await fetch(location.pathname + location.search, { headers, cache: "no-store" });
    clockAhead = Number(response.headers.get("x-emulator-time")) - Date.now();
    if (response.status === 200) {
      update(await response.text());
      etag = response.headers.get("etag") ?? "";
    }
    live.textContent = "live";
    live.className = "on";
  } catch {
    live.textContent = "not connected";
    live.className = "off";
  }
}

/** One refresh at a time; one that is asked for during another follows it. */
function refreshSoon() {
  refreshing = (refreshing ?? Promise.resolve()).then(refresh);
  return refreshing;
}

async function submit(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const alert = document.getElementById("alert");
  try {
    const response = await fetch(form.getAttribute("action"), { method: "POST", body, headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(response.ok ? "" : await response.text(), "text/html");
    const reason = page.getElementById("alert") ?? page.body;
    alert.textContent = response.ok ? "" : reason.textContent;
  } catch {
    alert.textContent = "There was no answer.";
  }
  await refreshSoon();
}

/** Shows what the filter selects, and puts it into the page's address. */
function filter(form) {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  history.replaceState(null, "", query.size === 0 ? "./" : "./?" + query);
  etag = "";
  return refreshSoon();
}

/** Copies in the older way too: some browsers refuse the newer one. */
async function copyText(text) {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {}
  const focused = document.activeElement;
  const area = document.body.appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  focused?.focus();
  if (!copied) throw new Error("The browser does not copy.");
}

async function copy(link) {
  const label = link.firstChild;
  const name = link.dataset.name ?? label.data; // it says "Copied" for a while
  link.dataset.name = name;
  try {
    const response = await fetch(link.href, { cache: "no-store" });
    if (!response.ok) throw new Error(await response.text());
    const bytes = await response.arrayBuffer();
    await copyText(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)); // text() drops the mark
    label.data = "Copied";
  } catch {
    label.data = "Not copied";
  }
  announce.textContent = label.data;
  setTimeout(() => {
    label.data = name;
    announce.textContent = "";
  }, COPIED_MS);
}

let typing;
document.addEventListener("input", ({ target }) => {
  const form = target.closest(".filter");
  clearTimeout(typing);
  if (form) typing = setTimeout(() => filter(form), target.type === "search" ? TYPING_MS : 0);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-copy]");
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  copy(link);
});
document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target.matches(".filter")) filter(event.target);
  else submit(event.target, event.submitter);
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refreshSoon();
});
document.documentElement.classList.add("live");
for (const list of document.querySelectorAll("[data-list]")) {
  for (const [key, item] of itemsOf(list)) shown.set(nameOf(list, key), item.outerHTML);
}
(async () => {
  for (;;) {
    if (!document.hidden) await refreshSoon();
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    countDown();
  }
})();
`;
