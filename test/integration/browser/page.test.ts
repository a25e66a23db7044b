import { type Emulator, startEmulator } from "../../../src/emulator";
import { receiver } from "../../emulator/receiver";
import { type HeadlessBrowser, startBrowser } from "./browser";
import { press, shows, unfold } from "./support";

let browser: HeadlessBrowser;
let emulator: Emulator;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.dispose());
beforeEach(async () => {
  emulator = await startEmulator({ retryDelaysMs: [1_000, 60_000] });
});
afterEach(async () => {
  await emulator.close();
  expect(browser.problems).toEqual([]);
});

async function listStatus(): Promise<number | "failed"> {
  const headers = { "X-Api-Key": emulator.apiKey };
  return fetch(`${emulator.url}/webhooks`, { headers }).then(
    ({ status }) => status,
    () => "failed" as const,
  );
}

test("someone runs a job, watches its deliveries arrive and be retried, and replays one", async () => {
  const { url, received } = await receiver(503);
  const page = await browser.open(emulator.url);
  await shows(page, "#live", /^live$/);
  await shows(page, "#endpoints", /None yet/);
  emulator.add({ url, type: "development" });
  await shows(page, "#endpoints .card", /^development http/);

  await press(page, ".top", "Run a job");
  await shows(page, "#deliveries .card", /^retrying job.running.* 503/);
  await shows(page, "#deliveries .card", /^delivered job.succeeded/);
  await page.click("#deliveries .card:last-child summary");
  await shows(
    page,
    "#deliveries .card",
    /job.running.* 503 \d+ ms next (in 1 s|now) .*webhook-signature: v1,/,
  );
  await page.click("#deliveries .card:last-child .raw summary");
  expect(await shows(page, "#deliveries .card", /job.running.* Raw: \d+ bytes \{/)).toContain(
    received[0]?.body,
  );
  // The retry arrives by itself, and the details stay open.
  await shows(
    page,
    "#deliveries .card",
    /^delivered job.running.*webhook-signature: v1,.* Raw: \d+ bytes \{.*Attempt 2.* 204/,
  );

  await press(page, "#deliveries .card:last-child footer", "Replay attempt 2");
  await shows(
    page,
    "#deliveries .card",
    /^delivered job.running.*webhook-signature: v1,.*Replay of attempt 2 .* 204/,
  );
  const [, retried, replayed] = received.filter(({ body }) => body === received[0]?.body);
  expect(replayed?.headers["webhook-signature"]).toBe(retried?.headers["webhook-signature"]);
  expect(received).toHaveLength(4);
});

test("someone breaks the service with the keyboard alone, sees the fault take effect, and removes it", async () => {
  const page = await browser.open(emulator.url);
  await shows(page, "#live", /^live$/);
  await page.focus("#faults select[name=operation]");
  await page.keyboard.type("list");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Tab");
  await page.keyboard.type("status");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await shows(page, "#faults", /planted status 504/);
  expect(await listStatus()).toBe(504);
  await shows(page, "#faults", /list: until removed, 1 so far/);
  await shows(page, "#requests", /GET \/webhooks status/);
  await press(page, "#faults .row", "Remove");
  await shows(page, "#faults", /works as it should/);
  expect(await listStatus()).toBe(200);
});

test("a hostile url, type, id, body and answer are shown as they are and run nothing", async () => {
  const hostile = `"><img src=x onerror=alert(1)></pre><script>alert(2)</script>`;
  const { url } = await receiver({ status: 500, headers: { "content-type": "text/html" }, body: hostile });
  const page = await browser.open(emulator.url);
  const { id } = emulator.add({ url: `${url}?${hostile}`, type: "production" });
  await emulator.deliver({ type: hostile, body: hostile, retryDelaysMs: [] });
  emulator.edit(id, { url: "javascript:alert(3)//<b>" });
  await page.waitForSelector("#deliveries .card");
  await page.click("#deliveries .card summary");
  const card = await shows(page, "#deliveries .card", /Answer Status 500/);
  expect(card.split(hostile).length - 1).toBeGreaterThanOrEqual(4);
  await shows(page, "#endpoints .card", /javascript:alert\(3\)\/\/<b>/);
  expect(await page.$$eval("main :is(img, script, b)", (elements) => elements.length)).toBe(0);
});

test("what someone is filling in, and the focus, survive updates", async () => {
  const page = await browser.open(emulator.url);
  const { id } = emulator.add({ url: "https://example.com/", type: "production" });
  await page.waitForSelector(`[data-key="${id}"]`);
  await page.click(`[data-key="${id}"] summary`);
  await page.select(`[data-key="${id}"] select`, "job.failed");
  await page.type(`[data-key="${id}"] textarea`, '{"type":');
  await page.focus(`[data-key="${id}"] select`);
  await page.select("#faults select[name=kind]", "delay");
  emulator.edit(id, { url: "https://example.com/edited" });
  await shows(page, "#endpoints .card", /edited/);
  expect(
    await page.evaluate(
      `[document.activeElement.value, ...["#endpoints textarea", "#faults select[name=kind]"].map((name) => document.querySelector(name).value)]`,
    ),
  ).toEqual(["job.failed", '{"type":', "delay"]);
});

test("the focus stays on a button of a delivery that gets further attempts", async () => {
  const { url, received } = await receiver();
  emulator.add({ url, type: "production" });
  await emulator.deliver({ type: "job.running" });
  const page = await browser.open(emulator.url);
  await shows(page, "#live", /^live$/);
  await page.click("#deliveries .card summary");
  await page.focus("#deliveries footer button");
  for (const count of [2, 3, 4]) {
    await page.keyboard.press("Enter");
    await shows(page, "#deliveries .card", new RegExp(`${count} attempts`));
    expect(await page.evaluate("document.activeElement.textContent")).toMatch(/^Replay/);
  }
  expect(received).toHaveLength(4);
});

test("the focus stays where someone types while an item above goes, and moves on when its own item goes", async () => {
  const ids = ["a", "b", "c"].map(
    (name) => emulator.add({ url: `https://example.com/${name}`, type: "production" }).id,
  );
  const page = await browser.open(emulator.url);
  const keyOfFocused = () =>
    page.evaluate("document.activeElement.closest('.card')?.dataset.key") as Promise<string | undefined>;
  const keys = (await page.$$eval("#endpoints .card", (cards) =>
    cards.map((card) => card.getAttribute("data-key")),
  )) as string[];
  expect([...keys].sort()).toEqual([...ids].sort());
  const [first = "", second = "", third = ""] = keys;
  await page.click(`[data-key="${second}"] summary`);
  await page.type(`[data-key="${second}"] textarea`, "half");
  emulator.remove(first);
  await page.waitForSelector(`[data-key="${first}"]`, { hidden: true });
  await page.keyboard.type(" a body");
  expect(await page.$eval(`[data-key="${second}"] textarea`, (area) => Object(area).value)).toBe(
    "half a body",
  );
  emulator.remove(second);
  await page.waitForSelector(`[data-key="${second}"]`, { hidden: true });
  expect(await keyOfFocused()).toBe(third);
});

test("the page says when the emulator is gone, and recovers when it is back", async () => {
  const page = await browser.open(emulator.url);
  await shows(page, "#live", /^live$/);
  await emulator.goOffline();
  await shows(page, "#live", /^not connected$/);
  emulator.add({ url: "https://example.com/later", type: "production" });
  await emulator.goOnline();
  await shows(page, "#endpoints", /example.com\/later/);
});

test("the page works without its script", async () => {
  const { url } = await receiver();
  emulator.add({ url, type: "production" });
  const page = await browser.open(emulator.url, { script: false });
  const text = () => page.$eval("main", (main) => main.textContent ?? "");
  const go = (selector: string) => Promise.all([page.waitForNavigation(), page.click(selector)]);
  await go("button[value=succeeded]");
  expect(page.url()).toBe(`${emulator.url}/_emulator/#deliveries`);
  expect(await text()).toMatch(/delivered\s+job.succeeded/);
  await page.click("#deliveries .card summary");
  await go("#deliveries form[action$=replays] button");
  expect(await text()).toMatch(/Replay/);
  await page.select("#faults select[name=kind]", "malformed");
  await go("form[action$='/faults'] button");
  expect(await text()).toMatch(/malformed\s+any: 1 more/);
});

test("someone registers an endpoint, sends an own body, filters, copies, clears and deletes, with the keyboard alone", async () => {
  const { url, received } = await receiver();
  const page = await browser.open(emulator.url);
  await page
    .browserContext()
    .overridePermissions(emulator.url, ["clipboard-read", "clipboard-sanitized-write"]);
  await shows(page, "#live", /^live$/);
  const use = async (selector: string, key = "Enter") => {
    await page.waitForSelector(selector, { visible: true });
    await page.focus(selector);
    await page.keyboard.press(key as "Enter");
  };
  await use("#endpoints .fold summary");
  await page.focus("#endpoints .fold input[name=url]");
  await page.keyboard.type(url);
  await page.keyboard.press("Enter");
  await shows(page, "#endpoints .card", /development/);

  await use("#endpoints .card summary", "Space");
  await page.focus("#endpoints textarea");
  await page.keyboard.type('{ "type": "order.paid" }');
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await shows(page, "#deliveries .card", /^delivered order.paid/);
  expect(received[0]?.body).toBe('{ "type": "order.paid" }');

  await emulator.deliver({ type: "job.running" });
  await shows(page, "#deliveries .card", /job.running/);
  await page.focus(".filter input");
  await page.keyboard.type("PAID");
  await shows(page, "#deliveries", /1 of 2/);
  expect(page.url()).toBe(`${emulator.url}/_emulator/?text=PAID`);
  expect(await page.evaluate("document.activeElement.value")).toBe("PAID");

  await use("#deliveries .card summary");
  await page.bringToFront();
  await use("#deliveries a[href$=curl]");
  expect(await shows(page, "#deliveries a[href$=curl]", /opied/)).toMatch(/^Copied/);
  const clipboard = await page.evaluate("navigator.clipboard.readText()");
  expect(clipboard).toMatch(/^curl .*--data-raw '\{ "type": "order.paid" \}'$/s);

  await use("#deliveries header button");
  await shows(page, "#deliveries", /none yet|0 of 0/);
  expect(emulator.deliveries).toEqual([]);
  await use("#endpoints form[action$=deleted-endpoints] button");
  await shows(page, "#endpoints", /None yet/);
});

test("a link that is clicked twice has its own name again after it has copied", async () => {
  emulator.add({ url: (await receiver(200)).url, type: "development" });
  await emulator.deliver({ type: "job.failed" });
  const page = await browser.open(emulator.url);
  await unfold(page, "#deliveries");
  const link = "#deliveries a[href$=curl]";
  await page.click(link);
  await shows(page, link, /opied/);
  await page.click(link);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await shows(page, link, /^Copy as curl/);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await shows(page, link, /^Copy as curl/);
});

test("a body is copied with its byte order mark, which is signed too", async () => {
  emulator.add({ url: (await receiver(200)).url, type: "development" });
  await emulator.deliver({ type: "job.failed", body: "\uFEFF{}" });
  const page = await browser.open(emulator.url);
  await unfold(page, "#deliveries");
  await page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
  const link = "#deliveries a[href$=body]";
  await page.click(link);
  await shows(page, link, /^Copied/);
  expect(await page.evaluate("window.copied")).toBe("\uFEFF{}");
});
