import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { read } from "../../package/pages";
import { type App, type Project, removeFolders, startApp, typeErrors } from "../../receiver/readme/app";
import { snippetsOf } from "../../receiver/readme/snippets";
import { delivered, otherSecret, secret } from "../../receiver/support";

const PACKAGES = "test/integration/node_modules";
const page = read("docs/monitoring.md");
const [prometheus = "", openTelemetry = ""] = snippetsOf(page).map(({ code }) => code);
const packages = {
  "prom-client": `${PACKAGES}/prom-client`,
  "@opentelemetry/api": `${PACKAGES}/@opentelemetry/api`,
  "@opentelemetry/sdk-metrics": `${PACKAGES}/@opentelemetry/sdk-metrics`,
  "@types/node": "node_modules/@types/node",
};
const INSTRUMENTATION = `
import { metrics } from "@opentelemetry/api";
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
const reader = new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter(), exportIntervalMillis: 100 });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
`;

const folder = mkdtempSync(join(tmpdir(), "monitoring-"));
afterAll(() => {
  removeFolders();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program of the page, whose file of secrets breaks once it has started, and sends it one of each kind. */
async function watched(code: string): Promise<App> {
  const file = join(folder, "receiver.json");
  writeFileSync(file, JSON.stringify({ version: 1, secrets: [secret] }));
  const project: Project = { files: { "app.ts": code, "instrumentation.ts": INSTRUMENTATION }, packages };
  expect(typeErrors(project)).toEqual([]);
  const app = await startApp(project, { WEBHOOK_RECEIVER_FILE: file });
  writeFileSync(file, "broken");
  const statusOf = async ({ headers, body }: ReturnType<typeof delivered>) =>
    (await fetch(app.url, { method: "POST", headers: { ...headers }, body })).status;
  expect(await statusOf(delivered())).toBe(200);
  expect(await statusOf(delivered({ body: { type: "job.paused" } }))).toBe(200);
  expect(await statusOf(delivered({ secret: otherSecret }))).toBe(401);
  return app;
}

test("the program with prom-client counts outcomes, refusals and failures to read the secrets", async () => {
  const app = await watched(prometheus);
  try {
    const metrics = await (await fetch(`http://127.0.0.1:${app.ports[1]}/metrics`)).text();
    expect(metrics).toContain('webhook_delivery_seconds_count{outcome="handled"} 1');
    expect(metrics).toContain('webhook_delivery_seconds_count{outcome="unhandled"} 1');
    expect(metrics).toContain('webhook_refusals_total{reason="signature-mismatch"} 1');
    expect(metrics).toMatch(/^webhook_secrets_errors_total [1-9]/m);

    const rules = /^```yaml\n(.*?)^```$/ms.exec(page)?.[1] ?? "";
    const names = new Set([...rules.matchAll(/webhook_\w+/g)].map(([name]) => name));
    expect([...names].filter((name) => !metrics.includes(name))).toEqual([]);
    const values = [...rules.matchAll(/[=!~]"([^"]*)"/g)].flatMap(([, list = ""]) => list.split("|"));
    const known = read("docs/receiving.md");
    expect(values.length).toBeGreaterThan(5);
    expect(values.filter((value) => !known.includes(`\`${value}\``))).toEqual([]);
    const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    expect(alerts).toEqual([...page.matchAll(/^\| `(Webhooks\w+)` \|/gm)].map(([, name]) => name));
  } finally {
    await app.stop();
  }
});

test("the program with OpenTelemetry records the same", async () => {
  const app = await watched(openTelemetry);
  const printed = () => app.lines.join("\n");
  try {
    for (const text of ["webhook.secrets.errors", "'handled'", "'unhandled'", "'signature-mismatch'"])
      while (!printed().includes(text)) await new Promise((wake) => setTimeout(wake, 20));
    expect(printed()).toMatch(/name: 'webhook.delivery.seconds'/);
  } finally {
    await app.stop();
  }
});
