import type { Page } from "puppeteer-core";
import { type Emulator, startEmulator } from "../../../src/emulator";
import { receiver } from "../../emulator/receiver";
import { ambiguousNames, look, scrollsSideways, tabThrough, violations } from "./accessible";
import { type HeadlessBrowser, startBrowser } from "./browser";
import { press, shows, unfold } from "./support";

let browser: HeadlessBrowser;
let emulator: Emulator;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.dispose());
beforeEach(async () => {
  emulator = await startEmulator({ retryDelaysMs: [60_000], accounts: { other: "other" } });
});
afterEach(async () => {
  await emulator.close();
  expect(browser.problems).toEqual([]);
});

/** Opens a page that has everything: each state of a delivery, answers of every kind, faults, requests and a rotation. */
async function fullPage(): Promise<Page> {
  const json = { status: 503, headers: { "content-type": "application/json" }, body: '{"error":"busy"}' };
  const { url } = await receiver(200, json, 401, 200, "reset", "hang");
  const { id } = emulator.add({ url, type: "production", ip: "192.0.2.1" });
  for (let n = 0; n < 11; n += 1) emulator.add({ url: `${url}/${n}`, type: "development" }, "other");
  const send = (more: object) => emulator.deliver({ type: "job.running", endpointId: id, ...more });
  await send({ data: { jobId: "job_1" } });
  void send({}).catch(() => undefined);
  while (emulator.deliveries.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  await send({ tamper: true });
  await send({ tamper: true });
  await send({ body: "not JSON", retryDelaysMs: [] });
  void send({}).catch(() => undefined);
  for (let n = 0; n < 26; n += 1) await emulator.deliver({ type: "job.failed", endpointId: id });
  emulator.fault({ operation: "get", kind: "delay", delayMs: 10, times: 3 });
  emulator.fault({ operation: "list", kind: "status", status: 500 });
  emulator.rotateSecret();
  for (const path of ["/webhooks", "/webhooks", "/nothing"]) await fetch(`${emulator.url}${path}`);
  const page = await browser.open(emulator.url);
  await shows(page, "#live", /^live$/);
  return page;
}

test.each([
  ["light", 1200],
  ["dark", 1200],
  ["light", 360],
  ["dark", 360],
])(
  "axe-core finds nothing in %s at %i pixels: folded, unfolded, filtered, and with an alert",
  async (scheme, width) => {
    const page = await fullPage();
    await look(page, scheme, width);
    expect(await violations(page)).toEqual([]);
    await unfold(page, "main");
    expect(await violations(page)).toEqual([]);
    await page.type(".filter input", "not to be found");
    await shows(page, "#deliveries", /No delivery matches/);
    await emulator.goOffline();
    // A refresh that came in between would replace the button under the click.
    await shows(page, "#live", /not connected/);
    await press(page, ".top", "Run a job");
    await shows(page, "#alert", /no answer/i);
    expect(await violations(page)).toEqual([]);
    await emulator.goOnline();
    expect(await scrollsSideways(page)).toBe(false);
  },
);

test("every control can be reached with Tab, in the order of the page, and has a name of its own", async () => {
  const page = await fullPage();
  await unfold(page, "main");
  const { stops, missed } = await tabThrough(page);
  expect(stops).toBeGreaterThan(100);
  expect(missed).toEqual([]);
  expect(await ambiguousNames(page)).toEqual([]);
});

test("links lead to each section on a narrow screen, and are not there on a wide one", async () => {
  const page = await fullPage();
  const visible = `getComputedStyle(document.querySelector(".jumps")).display !== "none"`;
  await page.setViewport({ width: 1200, height: 800 });
  expect(await page.evaluate(visible)).toBe(false);
  await page.setViewport({ width: 360, height: 640 });
  for (const id of ["settings", "deliveries", "endpoints", "faults", "requests", "secrets"]) {
    await page.click(`.jumps a[href="#${id}"]`);
    const top = (await page.evaluate(
      `document.getElementById("${id}").getBoundingClientRect().top`,
    )) as number;
    expect([id, top >= 0 && top < 640]).toEqual([id, true]);
  }
});
