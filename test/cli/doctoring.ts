import { type DiagnoseOptions, diagnose } from "../../src/cli/doctor/diagnose";
import type { Emulator } from "../../src/emulator";
import { FakeProject, type FakeProjectOptions, KeptOutput } from "./fakeProject";

export const settingsOf = ({ url, apiKey }: Emulator) => ({
  "webhooks:baseUrl": url,
  "webhooks:apiKey": apiKey,
});

/** Has doctor look at a project whose settings lead to an emulator. */
export async function diagnosed(
  emulator: Emulator,
  project: Partial<FakeProjectOptions>,
  options: Partial<DiagnoseOptions> = {},
) {
  const pulumi = new FakeProject({ config: settingsOf(emulator), stacks: { dev: {} }, ...project });
  const output = new KeptOutput(false);
  const diagnosis = await diagnose({
    ...{ pulumi, output, alsoStacks: [], environment: {}, folder: __dirname, now: Date.now },
    ...options,
  });
  expect(JSON.stringify(diagnosis)).not.toContain(emulator.apiKey);
  for (const { remedy } of diagnosis.findings) expect(remedy).toMatch(/\.$/);
  return { ...diagnosis, codes: diagnosis.findings.map(({ level, code }) => `${level} ${code}`).sort() };
}
