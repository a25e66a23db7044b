import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settlementStack } from "../../src/cli/evidence";
import { systemClock } from "../../src/client/clock";

const folder = mkdtempSync(join(tmpdir(), "webhooks-evidence-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a command finds the book's entries of a stack in the folder of PULUMI_OPTION_CWD, which names its backend", () => {
  mkdirSync(join(folder, "infra"));
  writeFileSync(join(folder, "infra", "Pulumi.yaml"), "name: test\nbackend: { url: gs://infra }\n");
  const urn = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
  const deployment = { resources: [{ urn, type: "pulumi:pulumi:Stack" }] };
  const environment = { PULUMI_HOME: folder, PULUMI_OPTION_CWD: join(folder, "infra") };
  const stack = settlementStack(deployment, async () => [], { environment, clock: systemClock });
  expect(stack?.name).toEqual({ urn, backend: "gs://infra" });
});
