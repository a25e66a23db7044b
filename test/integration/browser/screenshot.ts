// Takes the picture of the documentation: npx ts-node --transpile-only test/integration/browser/screenshot.ts docs/emulator.png

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
    await page.setViewport({ width: 1200, height: 900 });
    emulator.add({ url: "http://127.0.0.1:8080/jobs", type: "production" });
    emulator.add({ url: "http://127.0.0.1:8081/staging/jobs", type: "development" });
    await emulator.runJob({ endpointType: "production" });
    // Nobody listens there: its deliveries are retried.
    void emulator.runJob({ endpointType: "development", outcome: "failed" });
    await emulator.deliver({ event: "job.failed", endpointType: "production", tamper: true });
    await emulator.runJob({ endpointType: "production" });
    while (emulator.deliveries.length < 10) await new Promise((resolve) => setTimeout(resolve, 100));
    const { number } = emulator.deliveries.find(({ url }) => url.includes("staging")) ?? { number: 1 };
    await page.goto(`${emulator.url}/_emulator/?d=${number}`);
    await page.waitForSelector("#live:not(:empty)");
    await page.click("#live");
    await writeFile(path, await page.screenshot());
  } finally {
    await browser.dispose();
    await emulator.close();
    jobs.close();
  }
}

void main(process.argv[2] ?? "docs/emulator.png");
