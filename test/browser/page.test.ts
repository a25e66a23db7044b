import type { Page } from "puppeteer-core";
import { type Emulator, startEmulator } from "../../src/emulator";
import { receiver } from "../emulator/receiver";
import { type HeadlessBrowser, startBrowser } from "./browser";

jest.setTimeout(60_000);

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

/** Waits until an element shows text that matches, and returns all of its text. */
async function shows(page: Page, selector: string, pattern: RegExp): Promise<string> {
  // A string, because these sources are compiled without the types of a browser.
  const texts = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => element.innerText)`;
  for (;;) {
    const shown = ((await page.evaluate(texts)) as string[]).map((text) => text.replace(/\s+/g, " "));
    const found = shown.find((text) => pattern.test(text));
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function press(page: Page, selector: string, name: string): Promise<void> {
  const button = await page.waitForSelector(`${selector} ::-p-text(${name})`);
  await button?.click();
}

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
  const { id } = emulator.add({ url, type: "development" });
  await shows(page, "#endpoints .card", new RegExp(id));

  await press(page, ".top", "Run a job");
  await shows(page, "#deliveries .card", /^retrying job.running.* 503 next in 1 s/);
  await shows(page, "#deliveries .card", /^delivered job.succeeded/);
  await page.click("#deliveries .card:last-child summary");
  expect(await shows(page, "#deliveries .card", /job.running.*webhook-signature: v1,/)).toContain(
    received[0]?.body,
  );
  // The retry arrives by itself, and the details stay open.
  await shows(page, "#deliveries .card", /^delivered job.running.*webhook-signature: v1,.*Attempt 2.* 204/);

  await press(page, "#deliveries .card:last-child", "Replay");
  await shows(page, "#deliveries .card", /^delivered job.running.*webhook-signature: v1,.*Replay .* 204/);
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
  expect(await page.$$eval("main :is(img, script, b, a)", (elements) => elements.length)).toBe(0);
});

test("what someone is filling in, and the focus, survive updates", async () => {
  const page = await browser.open(emulator.url);
  const { id } = emulator.add({ url: "https://example.com/", type: "production" });
  await page.waitForSelector(`[data-key="${id}"]`);
  await page.select(`[data-key="${id}"] select`, "job.failed");
  await page.focus(`[data-key="${id}"] select`);
  await page.select("#faults select[name=kind]", "delay");
  emulator.edit(id, { url: "https://example.com/edited" });
  await shows(page, "#endpoints .card", /edited/);
  expect(
    await page.evaluate(
      `[document.activeElement.value, document.querySelector("#faults select[name=kind]").value]`,
    ),
  ).toEqual(["job.failed", "delay"]);
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
  await go("#deliveries form[action$=replays] button");
  expect(await text()).toMatch(/Replay/);
  await page.select("#faults select[name=kind]", "malformed");
  await go("form[action$='/faults'] button");
  expect(await text()).toMatch(/malformed\s+any: 1 more/);
});
