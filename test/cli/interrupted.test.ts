import { type Emulator, startEmulator } from "../../src/emulator";
import { cleanUp, makeFolder, start } from "./commandLine";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator();
});
afterEach(async () => {
  await cleanUp();
  await emulator.close();
});

/** A folder with an empty stack, and the environment to use it with. */
function emptyStack() {
  const cwd = makeFolder({
    "Pulumi.yaml": "name: test\nruntime: nodejs\n",
    "bin/pulumi": `#!/bin/sh
case "$*" in
  "stack ls"*) echo '[{"name":"dev","current":true}]' ;;
  "stack export"*) echo '{"version":3,"deployment":{}}' ;;
  *) echo '{}' ;;
esac
`,
  });
  const env = {
    PATH: `${cwd}/bin:${process.env.PATH}`,
    PULUMI_HOME: cwd,
    WEBHOOKS_BASE_URL: emulator.url,
    WEBHOOKS_API_KEY: emulator.apiKey,
  };
  return { cwd, env };
}

test.each([
  ["delete", (ids: string[]) => ["delete", "--yes", "--json", ...ids]],
  ["prune", () => ["prune", "--yes", "--json", "--older-than", "0m", "--type", "production"]],
])(
  "Ctrl-C in %s names each endpoint whose deletion was sent, as deleted or as unknown",
  async (_command, args) => {
    const [quick, slow, hanging] = ["quick", "slow", "hanging"].map((path) =>
      emulator.add({
        url: `https://a.example.com/${path}`,
        type: "production",
        createdAt: "2020-01-01T00:00:00Z",
      }),
    );
    for (const [endpoint, delayMs] of [
      [slow, 150],
      [hanging, 60_000],
    ] as const)
      emulator.fault({ operation: "delete", id: endpoint?.id ?? "", kind: "delay", delayMs });
    const ids = [quick, slow, hanging].map((endpoint) => endpoint?.id ?? "");
    const started = start(args(ids), emptyStack());
    await started.untilTrue(() => emulator.endpoints().length === 0);
    const startedAt = performance.now();
    const { status, stdout, stderr } = await started.signal("SIGINT");
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(status).toBe(130);
    expect(stderr).toContain(`Deleted ${quick?.id}`);
    expect(stderr).toContain(`Deleted ${slow?.id}`);
    expect(stderr).toMatch(new RegExp(`${hanging?.id}: it is unknown whether it was deleted`));
    expect(stderr.match(/^error: .*$/gm)).toEqual(["error: Ctrl-C ended the command (INTERRUPTED)"]);
    const { deleted, kept, error } = JSON.parse(stdout);
    expect(deleted.map(({ id }: { id: string }) => id).sort()).toEqual(ids.slice(0, 2).sort());
    expect(kept).toMatchObject([{ id: hanging?.id, reason: "unknown" }]);
    expect(error).toMatchObject({ code: "INTERRUPTED" });
  },
);
