import type { Fault } from "../provider/fakeService";
import { HttpService } from "./httpService";
import { Project } from "./project";

jest.setTimeout(300_000);

const FAULTS: readonly Omit<Fault, "operation">[] = [
  { kind: "lost-after" },
  { kind: "hang-before" },
  { kind: "status", status: 500, effect: true },
  { kind: "truncated" },
  { kind: "late-commit", delayMs: 8_000 },
];
/** How often a hook asks for another try, or what else it does. */
const HOOKS = [0, 1, 3, "throws"] as const;

// The language host of the tests passes no hooks on, but an inline program talks to the engine directly (engine rule 32).
test("in an inline program of the Automation API, no endpoint is lost or registered twice, whatever hooks that retry do", async () => {
  const service = await HttpService.start();
  const project = new Project({ config: { ...service.config, "webhooks:timeoutSeconds": "2" } });
  try {
    const endpoints = FAULTS.flatMap((_, fault) =>
      HOOKS.map((hook) => {
        const name = `${fault}-${hook}`;
        return { name, hook, args: { url: `https://hooks.example.com/${name}`, type: "production" } };
      }),
    );
    project.inlineProgram(`
for (const { name, hook, args } of ${JSON.stringify(endpoints)}) {
  let tries = 0;
  const onError = new pulumi.ErrorHook("hook-of-" + name, async () => {
    if (hook === "throws") throw new Error("the hook of " + name + " throws");
    return ++tries <= hook;
  });
  new WebhookEndpoint(name, args, { hooks: { onError: [onError] } });
}`);
    const up = ["up", "--yes", "--skip-preview", "--continue-on-error", "--parallel=100"];
    for (const fault of FAULTS) service.fault({ ...fault, operation: "register", times: HOOKS.length });
    // Once each is sent, lists fail for a while, so that the first tries find nothing.
    let left = endpoints.length;
    service.watch = ({ operation }, moment) => {
      if (operation === "register" && moment === "arrived" && --left === 0)
        service.fault({ operation: "list", kind: "status", status: 400, times: 40 });
    };
    expect(await project.fail(...up)).toMatch(/REGISTRATION_PENDING/);
    expect(Object.keys(await project.endpoints()).sort()).toEqual(endpoints.map(({ name }) => name).sort());
    service.clearFaults();
    await project.pulumi(...up);
    const recorded = Object.entries(await project.endpoints()).map(([name, { id }]) => [name, id]);
    const registered = service.endpoints.map(({ id, url }) => [new URL(url).pathname.slice(1), id]);
    expect(recorded.sort()).toEqual(registered.sort());
    expect(recorded).toHaveLength(endpoints.length);
    expect(service.changes).not.toContain("delete");
  } finally {
    project.dispose();
    await service.stop();
  }
});
