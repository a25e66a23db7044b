// Takes the picture of the documentation: npx ts-node --transpile-only test/browser/screenshot.ts docs/emulator.png

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { startEmulator } from "../../src/emulator";
import { verify } from "../../src/signature";
import { startBrowser } from "./browser";

async function main(path: string): Promise<void> {
  const emulator = await startEmulator({ port: 8787 });
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const genuine = verify(Buffer.concat(chunks), request.headers, emulator.secrets());
    if (genuine) response.writeHead(204).end();
    else
      response.writeHead(401, { "content-type": "application/json" }).end('{"error":"signature-mismatch"}');
  }).listen(8080, "127.0.0.1");
  await once(receiver, "listening");
  const browser = await startBrowser();
  try {
    const page = await browser.open(emulator.url);
    await page.setViewport({ width: 1200, height: 960 });
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
    await click("#deliveries .card:nth-child(3) form[action$=forgeries] button");
    await page.waitForSelector("#deliveries .card:nth-child(3) li:nth-child(2)");
    await click("#deliveries .card:nth-child(3) li:nth-child(2) summary");
    await page.mouse.move(0, 0);
    await page.evaluate("document.activeElement.blur()");
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await writeFile(path, await page.screenshot());
  } finally {
    await browser.dispose();
    await emulator.close();
    receiver.close();
  }
}

void main(process.argv[2] ?? "docs/emulator.png");
