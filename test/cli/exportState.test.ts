import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pulumi } from "../../src/cli/pulumi";
import { exportState } from "../../src/cli/recover/exportState";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";

/** A command that cannot read the state while a file is there. */
class BrokenBackend extends Pulumi {
  constructor(
    readonly url: string,
    readonly file: string,
  ) {
    super(undefined);
  }
  override async run([command]: readonly string[]): Promise<PulumiCommandResult> {
    if (command === "whoami") return { exitCode: 0, stdout: JSON.stringify({ url: this.url }), stderr: "" };
    if (existsSync(this.file)) return { exitCode: 255, stdout: "", stderr: "error: unexpected EOF\n" };
    return { exitCode: 0, stdout: '{"deployment":{}}', stderr: "" };
  }
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), "export state-")));
afterAll(() => {
  delete process.env.PULUMI_OPTION_CWD;
  rmSync(folder, { recursive: true });
});

test.each([
  ["file://./states", "states"],
  ["file://states?no_tmp_dir=true", "states"],
  [`file://${encodeURI(folder)}/absolute`, "absolute"],
])("in the backend %s, empty attributes files are found", async (url, name) => {
  const stacks = join(folder, name, ".pulumi", "stacks");
  mkdirSync(stacks, { recursive: true });
  mkdirSync(join(folder, "below"), { recursive: true });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: test\n");
  process.env.PULUMI_OPTION_CWD = join(folder, "below");
  const empty = join(stacks, "dev.json.attrs");
  writeFileSync(empty, "");
  writeFileSync(join(stacks, "prod.json.attrs"), "{}");
  const asked: unknown[] = [];
  const state = await exportState(
    new BrokenBackend(url, empty),
    (_describe, work) => work,
    async (files) => asked.push(files) === 1,
  );
  expect([state, asked]).toEqual([{ deployment: {} }, [[empty]]]);
});
