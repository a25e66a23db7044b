import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { read } from "../../package/pages";
import { removeFolders, startApp, typeErrors } from "../../receiver/readme/app";
import { snippetsOf } from "../../receiver/readme/snippets";
import { delivered, otherSecret, secret } from "../../receiver/support";

const page = read("docs/monitoring.md");
const program = snippetsOf(page).find(({ title }) => title === "app.ts, with prom-client")?.code ?? "";
const folder = mkdtempSync(join(tmpdir(), "monitoring-"));
afterAll(() => {
  removeFolders();
  rmSync(folder, { recursive: true, force: true });
});

test("the program with prom-client counts outcomes, refusals and failures to read the secrets", async () => {
  const file = join(folder, "receiver.json");
  writeFileSync(file, JSON.stringify({ version: 1, secrets: [secret] }));
  const packages = {
    "prom-client": "test/integration/node_modules/prom-client",
    "@types/node": "node_modules/@types/node",
  };
  const project = { files: { "app.ts": program }, packages };
  expect(typeErrors(project)).toEqual([]);
  const app = await startApp(project, { WEBHOOK_RECEIVER_FILE: file });
  const statusOf = async ({ headers, body }: ReturnType<typeof delivered>) =>
    (await fetch(app.url, { method: "POST", headers: { ...headers }, body })).status;
  try {
    writeFileSync(file, "broken");
    expect(await statusOf(delivered())).toBe(200);
    expect(await statusOf(delivered({ body: { type: "job.paused" } }))).toBe(200);
    expect(await statusOf(delivered({ secret: otherSecret }))).toBe(401);
    expect(await statusOf(delivered({ id: "msg_validation_1", secret: otherSecret }))).toBe(401);

    const response = await fetch(`http://127.0.0.1:${app.ports[1]}/metrics`);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=/);
    const metrics = await response.text();
    expect(metrics).toContain('webhook_delivery_seconds_count{outcome="handled"} 1');
    expect(metrics).toContain('webhook_delivery_seconds_count{outcome="unhandled"} 1');
    // Without the broken delivery of a validation.
    expect(metrics).toContain('webhook_refusals_total{reason="signature-mismatch"} 1');
    expect(metrics).toMatch(/^webhook_secrets_errors_total [1-9]/m);

    const rules = /^```yaml\n(.*?)^```$/ms.exec(page)?.[1] ?? "";
    const names = new Set([...rules.matchAll(/webhook_\w+/g)].map(([name]) => name));
    expect([...names].filter((name) => !metrics.includes(name))).toEqual([]);
  } finally {
    await app.stop();
  }
});
