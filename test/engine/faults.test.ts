import { join } from "node:path";
import type { Fault, Habits } from "../provider/fakeService";
import { inWorld } from "./httpService";
import { API_KEY, allAt, Project } from "./project";

jest.setTimeout(300_000);

const FAULTS: readonly Omit<Fault, "operation">[] = [
  ...([
    { kind: "lost-before" },
    { kind: "lost-after" },
    { kind: "hang-before" },
    { kind: "hang-after" },
  ] as const),
  ...([{ kind: "truncated" }, { kind: "garbled" }, { kind: "empty" }] as const),
  ...[500, 503].flatMap((status) =>
    [true, false].map((effect) => ({ kind: "status" as const, status, effect })),
  ),
  { kind: "late-response", delayMs: 7_000 },
  ...[2_000, 7_000].map((delayMs) => ({ kind: "late-commit" as const, delayMs })),
];
/** How often an endpoint's hook asks for another try, or what else it does; null: it has none. */
const HOOKS = [null, 1, 3, "throws"] as const;

const declared = allAt(FAULTS.flatMap((_, fault) => HOOKS.map((hook) => `${fault}-${hook}`)));

// An old language host passes no hooks on, but an inline program talks to the engine directly (engine rule 32).
const program = `
for (const [name, args] of Object.entries(${JSON.stringify(declared)})) {
  const [, hook] = name.split("-");
  let tries = 0;
  const onError = new pulumi.ErrorHook("hook-of-" + name, async () => {
    if (hook === "throws") throw new Error("the hook of " + name + " throws");
    return ++tries <= Number(hook);
  });
  new WebhookEndpoint(name, args, hook === "null" ? {} : { hooks: { onError: [onError] } });
}`;

test.concurrent.each<[string, Habits, RegExp | undefined]>([
  ["lag", { lagMs: 2_000 }, undefined],
  ["show a part", { listed: 20 }, /Ways on:[\s\S]*adoptId[\s\S]*STILL_PENDING/],
])(
  "faults of every kind over 56 endpoints, with hooks that retry, where lists %s: 0 missing, 0 twice, 0 orphans, or a stop",
  (_, habits, stop) =>
    inWorld(Project, { habits, config: { "webhooks:timeoutSeconds": "5" } }, async ({ project, service }) => {
      project.program(program);
      for (const fault of FAULTS) service.fault({ ...fault, operation: "register", times: HOOKS.length });
      // Once each is sent, lists fail for a while, so that the first tries find nothing.
      let left = Object.keys(declared).length;
      service.watch = ({ operation }, moment) => {
        if (operation === "register" && moment === "arrived" && --left === 0)
          service.fault({ operation: "list", kind: "status", status: 400, times: 40 });
      };
      const first = await project.run(process.execPath, join(__dirname, "automation.js"));
      expect(first.exitCode).not.toBe(0);
      expect(first.output).toMatch(
        /the registration of https:\/\/hooks\.example\.com\/… was sent.*REGISTRATION_PENDING/,
      );
      expect(Object.keys(project.ids()).sort()).toEqual(Object.keys(declared).sort());
      service.clearFaults();
      // Enough for any machine, and as long as five do, it makes the run wait for what may still be made.
      await project.succeed("config", "set", "webhooks:timeoutSeconds", "10");
      const second = await project.run(process.execPath, join(__dirname, "automation.js"));
      if (stop === undefined) service.expectExactly(project, declared);
      else expect(second.output).toMatch(stop);
      expect(second.exitCode).toBe(stop === undefined ? 0 : 1);
      // Nothing was registered twice, or deleted.
      expect(new Set(service.endpoints.map(({ url }) => url)).size).toBe(service.endpoints.length);
      expect(service.changes).not.toContain("delete");
      expect(project.transcript).not.toContain(API_KEY);
    }),
);
