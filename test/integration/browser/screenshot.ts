// Takes the picture of the documentation: npx ts-node --transpile-only test/browser/screenshot.ts docs/emulator.png

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { startEmulator } from "../../../src/emulator";
import { createReceiver } from "../../../src/receiver";
import { nodeHandler } from "../../../src/receiver/adapters/node";
import { startBrowser } from "./browser";

async function main(path: string): Promise<void> {
  const emulator = await startEmulator({ port: 8787 });
  const secrets = () => emulator.secrets();
  const handlers = {
    "job.running": async () => {},
    "job.succeeded": async () => {},
    "job.failed": async () => {},
  };
  const jobs = createServer(nodeHandler(createReceiver({ secrets, handlers, onRejected: () => {} })));
  jobs.listen(8080, "127.0.0.1");
  await once(jobs, "listening");
  const browser = await startBrowser();
  try {
    const page = await browser.open(emulator.url);
    await page.setViewport({ width: 1200, height: 1240 });
    const click = (selector: string) => page.waitForSelector(selector).then((element) => element?.click());
    const headers = { "X-Api-Key": emulator.apiKey };
    const register = (url: string, type: string) =>
      fetch(`${emulator.url}/webhooks`, { method: "POST", headers, body: JSON.stringify({ url, type }) });
    await register("http://127.0.0.1:8080/jobs", "production");
    emulator.fault({ operation: "register", kind: "status", status: 503 });
    await register("http://127.0.0.1:8081/staging/jobs", "development");
    await register("http://127.0.0.1:8081/staging/jobs", "development");
    await fetch(`${emulator.url}/webhooks`, { headers });
    emulator.fault({ operation: "any", kind: "reset-after", times: 3 });
    await emulator.runJob({ endpointType: "production" });
    void emulator.runJob({ endpointType: "development", outcome: "failed" });
    await emulator.runJob({ endpointType: "production" });
    const card = "#deliveries .card:nth-child(1)";
    await click(`${card} summary`);
    await click(`${card} form[action$=forgeries] button`);
    await page.waitForSelector(`${card} li:nth-child(2)`);
    await click(`${card} li:nth-child(1) details[open] > summary`);
    await click(`${card} li:nth-child(2) details:not([open]) > summary`);
    await page.mouse.move(0, 0);
    await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)");
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await writeFile(path, await page.screenshot());
  } finally {
    await browser.dispose();
    await emulator.close();
    jobs.close();
  }
}

void main(process.argv[2] ?? "docs/emulator.png");
