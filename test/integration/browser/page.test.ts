import timers from "node:timers/promises";
import type { Page } from "puppeteer-core";
import { type Emulator, startEmulator } from "../../../src/emulator";
import { receiver } from "../../emulator/receiver";
import { deferred } from "../../receiver/support";
import { type HeadlessBrowser, startBrowser } from "./browser";
import { press, shows } from "./support";

/** An hour: a retry comes when a test says so. */
const RETRY_MS = 3_600_000;

let browser: HeadlessBrowser;
let emulator: Emulator;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.dispose());
beforeEach(async () => {
  emulator = await startEmulator({ retryDelaysMs: [RETRY_MS], warn: () => undefined });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await emulator.close();
  expect(browser.problems).toEqual([]);
});

async function open(query = ""): Promise<Page> {
  const page = await browser.open(`${emulator.url}/_emulator/${query}`);
  await shows(page, "#live", /live/);
  return page;
}

/** Holds back the emulator's retries until they are released. */
function holdRetries() {
  const { promise, resolve: release } = deferred();
  const { setTimeout: wait } = timers;
  jest
    .spyOn(timers, "setTimeout")
    .mockImplementation((ms, value, options) => (ms === RETRY_MS ? promise : wait(ms, value, options)));
  return { release };
}

test("someone runs a job, watches its deliveries arrive and be retried, and replays one", async () => {
  const { url, received } = await receiver(503);
  const retries = holdRetries();
  emulator.add({ url, type: "development" });
  const page = await open();
  await shows(page, "#list", /^No delivery yet/);
  await press(page, "header", "Run a job");
  await shows(page, "#list li", /^retrying job.running/);
  await shows(page, "#list li", /^delivered job.succeeded/);
  await page.locator("#list li:last-child a").click();
  await shows(
    page,
    "#detail",
    /job.running retrying .*Attempt 1 .* 503 \d+ ms next .*webhook-signature: v1,/,
  );
  await page.locator("#detail summary").click();
  await shows(page, "#detail", /Attempt 1 .* 503 \d+ ms next [\d:.]+$/);
  await page.locator("#detail summary").click();
  await shows(page, "#detail", /webhook-signature: v1,/);
  // The retry arrives, and the details stay unfolded, though a page that is loaded unfolds the last attempt only.
  retries.release();
  await shows(
    page,
    "#detail",
    /job.running delivered .* Attempt 1 .* 503 \d+ ms next .*webhook-signature: v1,.* Attempt 2 .* 204/,
  );
  await page.locator("[id^=replay]").click();
  await shows(page, "#detail", /Replay of attempt \d .* 204/);
  expect(page.url()).toMatch(/\?d=\d+$/);
  expect(received).toHaveLength(4);
});

test("the focus, the open details and what someone is filling in survive updates", async () => {
  const { url } = await receiver();
  emulator.add({ url, type: "production" });
  await emulator.deliver({ event: "job.running" });
  const page = await open();
  await page.focus("#d1");
  await emulator.deliver({ event: "job.failed" });
  await shows(page, "#list li", /job.failed/);
  expect(await page.evaluate("document.activeElement.id")).toBe("d1");

  await page.goto(`${emulator.url}/_emulator/?tab=endpoints`);
  await page.$eval("textarea", (field) => field.select());
  await page.type("textarea", '{"type":');
  emulator.add({ url: "https://example.com/other", type: "development" });
  await shows(page, "#endpoints", /example.com\/other/);
  await shows(page, "#targets", /example.com\/other/);
  expect(await page.evaluate("[document.activeElement.name, document.activeElement.value]")).toEqual([
    ...["body", '{"type":'],
  ]);
});

test("someone filters while typing, and the filter is in the address", async () => {
  emulator.add({ url: (await receiver()).url, type: "production" });
  await emulator.deliver({ event: "job.running" });
  await emulator.deliver({ event: "order.paid" });
  const page = await open();
  await page.type("input[type=search]", "PAID");
  await shows(page, "#count", /^1 of 2/);
  await shows(page, "#detail", /^order.paid/);
  expect(page.url()).toBe(`${emulator.url}/_emulator/?q=PAID`);
  expect(await page.evaluate("document.activeElement.value")).toBe("PAID");
});

test("someone registers an endpoint, sends an own body and breaks the service with the keyboard alone", async () => {
  const { url, received } = await receiver();
  const page = await open("?tab=endpoints");
  const use = async (selector: string, ...keys: string[]) => {
    await page.focus(selector);
    for (const key of keys) await page.keyboard.press(key as "Enter");
  };
  const submitted = (keys: () => Promise<unknown>) => Promise.all([page.waitForNavigation(), keys()]);
  await page.type("input[name=url]", url);
  await submitted(() => use("input[name=url]", "Enter"));
  await page.$eval("textarea", (field) => field.select());
  await page.type("textarea", '{ "type": "order.paid" }');
  await submitted(() => use("textarea", "Tab", "Enter"));
  await shows(page, "#list li", /^delivered order.paid/);
  expect(received[0]?.body).toBe('{ "type": "order.paid" }');

  await submitted(() => use("nav a:nth-child(3)", "Enter"));
  // A letter each: of a word, a browser that is slow takes each letter for a new choice.
  await use("select[name=operation]", "l");
  await use("select[name=kind]", "s");
  await submitted(() => use("input[name=status]", "ArrowUp", "Enter"));
  await shows(page, "#faults", /status 504 list: 1 more, 0 so far/);
  const headers = { "X-Api-Key": emulator.apiKey };
  expect((await fetch(`${emulator.url}/webhooks`, { headers })).status).toBe(504);
  await shows(page, "#requests", /GET \/webhooks status 504/);
});

test("a hostile url, type, body and response are shown as they are and run nothing", async () => {
  const hostile = `"><img src=x onerror=alert(1)></pre><script>alert(2)</script>`;
  const { url } = await receiver({ status: 500, headers: { "content-type": "text/html" }, body: hostile });
  emulator.add({ url: `${url}?${hostile}`, type: "production" });
  await emulator.deliver({ event: hostile, body: hostile, retryDelaysMs: [] });
  const page = await open();
  const detail = await shows(page, "#detail", /status: 500/);
  expect(detail.split(hostile).length - 1).toBe(3);
  expect(await page.$$eval("main :is(img, script, b)", (elements) => elements.length)).toBe(0);
});

test("the page says when the emulator is gone, and recovers when it is back", async () => {
  const page = await open("?tab=endpoints");
  await emulator.goOffline();
  await shows(page, "#live", /not connected/);
  emulator.add({ url: "https://example.com/later", type: "production" });
  await emulator.goOnline();
  await shows(page, "#endpoints", /example.com\/later/);
});

test("the page works without its script", async () => {
  emulator.add({ url: (await receiver()).url, type: "production" });
  const page = await browser.open(emulator.url, { script: false });
  /** Loads the page again until it shows this, as it does not wait for an action that takes long. */
  const showsLater = async (pattern: RegExp) => {
    while (!pattern.test(await page.$eval("main", (main) => main.textContent ?? ""))) await page.reload();
  };
  const go = (selector: string) => Promise.all([page.waitForNavigation(), page.click(selector)]);
  await go("button[value=succeeded]");
  await showsLater(/delivered\s+job.succeeded/);
  await go("#list li:last-child a");
  await go("[id^=replay]");
  await showsLater(/Replay of attempt 1/);
  await page.type("input[type=search]", "succeeded");
  await go(".filter button");
  await showsLater(/1 of 2 deliveries/);
  await go("nav a:nth-child(3)");
  await page.select("select[name=kind]", "malformed");
  await go("form[action*=add-fault] button");
  await showsLater(/malformed\s+any: 1 more/);
});
