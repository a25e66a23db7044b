import type { Page } from "puppeteer-core";
import { sign } from "../../../src/signature";
import { cleanUp, OTHER_SECRET, SECRET, type Started, start } from "../../cli/commandLine";
import { receiver } from "../../emulator/receiver";
import { ambiguousNames, look, scrollsSideways, tabThrough, violations } from "./accessible";
import { type HeadlessBrowser, startBrowser } from "./browser";
import { shows, unfold } from "./support";

let browser: HeadlessBrowser;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.dispose());
afterEach(async () => {
  await cleanUp();
  expect(browser.problems).toEqual([]);
});

/** Opens the page of `listen` with deliveries that were forwarded, refused, and not JSON. */
async function fullPage(): Promise<{ page: Page; started: Started }> {
  const target = await receiver(200, 500, 200);
  const args = ["listen", "--secret-env", "THE_SECRET", "--page", "--json", "--forward-to", target.url];
  const started = start(args, { env: { THE_SECRET: SECRET } });
  const [line] = await started.until(/^\{"url".*\}$/m);
  const { url, page: address } = JSON.parse(line) as { url: string; page: string };
  const deliver = async (id: string, body: string, secret = SECRET) => {
    const headers = sign({ id, timestamp: Math.floor(Date.now() / 1000), body, secret });
    await fetch(url, { method: "POST", body, headers: { ...headers, "content-type": "application/json" } });
  };
  await deliver("msg_1", '{"type":"job.succeeded","data":{"jobId":"job_1"}}');
  await deliver("msg_2", '{"type":"job.failed","data":{"jobId":"job_2"}}');
  await deliver("msg_3", '{"type":"job.failed"}', OTHER_SECRET);
  await deliver("msg_4", "not JSON");
  const page = await browser.open(address);
  await shows(page, "#deliveries", /4 in total/);
  return { page, started };
}

test.each([
  ["light", 1200],
  ["dark", 1200],
  ["light", 360],
  ["dark", 360],
])("axe-core finds nothing on the page of listen in %s at %i pixels", async (scheme, width) => {
  const { page } = await fullPage();
  await look(page, scheme, width);
  expect(await violations(page)).toEqual([]);
  await unfold(page, "main");
  expect(await violations(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
  await page.type(".filter input", "not to be found");
  await shows(page, "#deliveries", /No delivery matches/);
  expect(await violations(page)).toEqual([]);
});

test("every control on the page of listen can be reached with Tab, and has a name of its own", async () => {
  const { page } = await fullPage();
  await unfold(page, "main");
  const { stops, missed } = await tabThrough(page);
  expect(stops).toBeGreaterThan(10);
  expect(missed).toEqual([]);
  expect(await ambiguousNames(page)).toEqual([]);
});
