import type { Page } from "puppeteer-core";
import { type Emulator, startEmulator } from "../../../src/emulator";
import { receiver } from "../../emulator/receiver";
import { until } from "../../emulator/support";
import { ambiguousNames, coveredTexts, look, scrollsSideways, tabThrough, violations } from "./accessible";
import { type HeadlessBrowser, startBrowser } from "./browser";
import { shows, unfold } from "./support";

/** So that the page stays as it is: nothing is retried or given up while it is looked at. */
const HOUR_MS = 3_600_000;

let browser: HeadlessBrowser;
let emulator: Emulator;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.dispose());
beforeEach(async () => {
  emulator = await startEmulator({
    retryDelaysMs: [HOUR_MS],
    deliveryTimeoutMs: HOUR_MS,
    accounts: { other: "other" },
  });
});
afterEach(async () => {
  await emulator.close();
  expect(browser.problems).toEqual([]);
});

/** Opens a page that has everything: each state of a delivery, responses of every kind, faults, requests and a rotation. */
async function fullPage(): Promise<{ page: Page; addresses: string[] }> {
  const json = { status: 503, headers: { "content-type": "application/json" }, body: '{"error":"busy"}' };
  const { url, received } = await receiver(200, json, 401, 200, "reset", "hang");
  const { id } = emulator.add({ url, type: "production", ip: "192.0.2.1" });
  emulator.add({ url: `${url}/${"a-long-path/".repeat(20)}`, type: "development" }, "other");
  const send = (more: object) => emulator.deliver({ event: "job.running", endpointId: id, ...more });
  await send({ data: { jobId: "job_1" } });
  void send({});
  await until(() => emulator.deliveries.length === 2);
  await send({ tamper: true });
  await send({ tamper: true });
  await send({ body: "not JSON", retryDelaysMs: [] });
  void send({});
  await until(() => received.length === 6);
  await emulator.replay();
  emulator.fault({ operation: "get", kind: "delay", delayMs: 10, times: 3 });
  emulator.fault({ operation: "list", kind: "status", status: 500 });
  emulator.rotateSecret();
  for (const path of ["/webhooks", "/nothing"]) await fetch(`${emulator.url}${path}`);
  const page = await browser.open(emulator.url);
  const queries = ["", "?d=2", "?q=nowhere", "?tab=endpoints", "?tab=faults", "?tab=setup"];
  return { page, addresses: queries.map((query) => `${emulator.url}/_emulator/${query}`) };
}

test.each([
  ["light", 1200],
  ["dark", 1200],
  ["light", 390],
  ["dark", 360],
])("axe-core finds nothing on any tab in %s at %i pixels, folded and unfolded", async (scheme, width) => {
  const { page, addresses } = await fullPage();
  for (const address of addresses) {
    await page.goto(address);
    await shows(page, "#live", /live/);
    await look(page, scheme, width);
    expect([address, await violations(page)]).toEqual([address, []]);
    await unfold(page, "main");
    expect([address, await violations(page)]).toEqual([address, []]);
    expect([address, await scrollsSideways(page)]).toEqual([address, false]);
    expect([address, await coveredTexts(page)]).toEqual([address, []]);
  }
});

test("every control can be reached with Tab, in the order of the page, and has a name of its own", async () => {
  const { page, addresses } = await fullPage();
  for (const address of addresses) {
    await page.goto(address);
    await shows(page, "#live", /live/);
    await unfold(page, "main");
    const { stops, missed } = await tabThrough(page);
    expect([address, stops > 5, missed]).toEqual([address, true, []]);
    expect([address, await ambiguousNames(page)]).toEqual([address, []]);
  }
});

test("a narrow screen shows the list, the chosen delivery in its place, and the way back", async () => {
  const { page } = await fullPage();
  await page.setViewport({ width: 360, height: 640 });
  await shows(page, "#live", /live/);
  const isVisible = (selector: string) =>
    page.$eval(selector, (element) =>
      (element as unknown as { checkVisibility(): boolean }).checkVisibility(),
    );
  expect([await isVisible(".master"), await isVisible(".detail")]).toEqual([true, false]);
  await Promise.all([page.waitForNavigation(), page.locator("#d1").click()]);
  expect([await isVisible(".master"), await isVisible(".detail")]).toEqual([false, true]);
  await Promise.all([page.waitForNavigation(), page.locator("#back").click()]);
  expect(await isVisible(".master")).toBe(true);
});
