import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Project } from "./project";
import { type Fault, TinyService } from "./tinyService";

jest.setTimeout(300_000);

const faults: readonly Fault[] = ["reset", "hang", "500", "truncated", "late"];
/** How often a hook asks for another try, or what else it does. */
const hooks = [0, 1, 3, "throws"] as const;

// The language host of the tests passes no hooks on, so the program is an inline one (engine rule 32).
const automation = `
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const pulumi = require("@pulumi/pulumi");
const { WebhookEndpoint } = require("pulumi-webhook-endpoints");
const { endpoints, retry, mend } = JSON.parse(process.argv[2]);
const program = async () => {
  for (const { name, hook, args } of endpoints) {
    let tries = 0;
    const onError = new pulumi.ErrorHook("hook-of-" + name, async () => {
      if (hook === "throws") throw new Error("the hook of " + name + " throws");
      tries += 1;
      if (tries === 3) await fetch(mend);
      return tries <= hook;
    });
    new WebhookEndpoint(name, args, retry ? { hooks: { onError: [onError] } } : {});
  }
};
(async () => {
  const stack = await LocalWorkspace.selectStack({ stackName: "dev", projectName: "test", program }, { workDir: __dirname });
  await stack.up({ continueOnError: true, parallel: 100, onOutput: (text) => process.stdout.write(text) });
})().catch(() => { process.exitCode = 1; });
`;

let service: TinyService;
let project: Project;

beforeAll(async () => {
  service = await TinyService.start();
  project = new Project({
    config: { "webhooks:baseUrl": service.url, "webhooks:apiKey": "k3y", "webhooks:timeoutSeconds": "2" },
  });
  project.write("automation.js", automation);
  await project.succeed("stack", "ls");
});
afterAll(async () => {
  project.dispose();
  await service.stop();
});

const endpointsOf = (round: string) =>
  faults.flatMap((fault) =>
    hooks.map((hook) => {
      const name = `${fault}-${hook}`;
      const args = { url: `https://hooks.example.com/${round}/${name}`, type: "production" };
      return { name, fault, hook, args };
    }),
  );

async function up(endpoints: ReturnType<typeof endpointsOf>, { retry }: { retry: boolean }): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["automation.js", JSON.stringify({ endpoints, retry, mend: `${service.url}/mend` })],
    { cwd: project.folder, env: project.env, maxBuffer: 64 * 2 ** 20 },
  ).catch((error: { stdout: string }) => error);
  return stdout;
}

// The second round replaces the endpoints of the first one.
test.each(["new", "replaced"])(
  "no endpoint is lost or made twice, whatever the hooks of endpoints that are %s do",
  async (round) => {
    const endpoints = endpointsOf(round);
    for (const { fault, args } of endpoints) service.faults.set(args.url, [fault]);
    // Lists fail until a hook is called for the third time: so the first tries find nothing, and the last retries do.
    service.listsFailMs = 60_000;
    service.lateMs = 15_000;
    service.changes.length = 0;
    const output = await up(endpoints, { retry: true });
    expect(output).toMatch(/REGISTRATION_PENDING/);
    const halfway = await project.endpoints();
    expect(Object.keys(halfway).sort()).toEqual(endpoints.map(({ name }) => name).sort());
    expect(halfway["reset-3"]?.id).not.toMatch(/^pending:/);
    await up(endpoints, { retry: false });
    const recorded = await project.endpoints();
    const at = new Map(service.endpoints.map(({ id, url }) => [id, url]));
    const urls = endpoints.map(({ name, args }) => [name, args.url]);
    expect(
      Object.entries(recorded)
        .map(([name, { id = "" }]) => [name, at.get(id)])
        .sort(),
    ).toEqual(urls.sort());
    expect(service.endpoints.map(({ url }) => url).sort()).toEqual(urls.map(([, url]) => url).sort());
    expect(service.changes.filter((change) => change === "POST")).toHaveLength(endpoints.length);
  },
);
