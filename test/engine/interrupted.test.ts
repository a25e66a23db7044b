import { delimiter, join } from "node:path";
import { fakeNpm } from "../package/terminal";
import {
  ctrlC,
  ctrlCTwice,
  endUp,
  inInterruptedWorld,
  SLOW_MS,
  sigkill,
  sigkillOfThePlugin,
} from "./interruption";
import { NativeProject } from "./nativeProject";
import { type Declared, Project, type ProjectOptions } from "./project";

jest.setTimeout(600_000);

const COUNT = 24;

const urlOf = (at: number) => `https://hooks.example.com/${at}`;
const endpoints = (count: number, args: object = {}): Declared =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`e${at}`, { url: urlOf(at), type: "production", ...args }]),
  );

test.concurrent.each([
  ["an early kill, a late one and two more early ones", [1, 7, 2, 3], sigkill],
  ["Ctrl-C twice", [5], ctrlCTwice],
] as const)(
  "after %s, a plain up ends with exactly what is declared, and equal endpoints of others stay",
  (_, moments, end) =>
    inInterruptedWorld(Project, {}, async (world) => {
      const { project, service } = world;
      // Another stack's, of the same url and type, registered before; after the window, one more.
      const others = [service.add({ url: urlOf(0), made: Date.now() - 3_600_000 })];
      const declared = endpoints(COUNT, { ifExists: "register" });
      project.declare(declared);
      for (const registrations of moments) await endUp(world, registrations, end);
      others.push(service.add({ url: urlOf(1), made: Date.now() + 3_600_000 }));
      const output = await project.up();
      const said = /took over wh_\d+ \(https:\/\/hooks\.example\.com\/…\) that an earlier run had registered/;
      expect(output).toMatch(/`pulumi up` takes them over: run it before any refresh/);
      if (end === sigkill) expect(output).toMatch(said);
      service.expectExactly(project, declared, others);
    }),
);

test.concurrent("after a kill of the plugin alone, the next up stops and names the ids, and adoptId goes on", () =>
  inInterruptedWorld(Project, {}, async (world) => {
    const { project, service } = world;
    const declared = endpoints(3);
    project.declare(declared);
    await endUp(world, 3, sigkillOfThePlugin);
    const recorded = Object.values(project.ids());
    const lost = service.endpoints.filter(({ id }) => !recorded.includes(id));
    expect(lost).not.toEqual([]);
    const output = await project.failUp();
    expect(output).toMatch(/ENDPOINT_EXISTS/);
    expect(lost.some(({ id }) => output.includes(id))).toBe(true);
    const idOf = (url: unknown) => service.endpoints.find((each) => each.url === url)?.id;
    const adopted = Object.entries(declared).map(([name, args]) => [
      name,
      { ...args, adoptId: idOf(args.url) },
    ]);
    project.declare(Object.fromEntries(adopted));
    await project.up();
    service.expectExactly(project, declared);
  }));

test.concurrent("one Ctrl-C ends every wait, keeps what got no response pending, and records what got one", () =>
  inInterruptedWorld(Project, { config: { "webhooks:timeoutSeconds": "300" } }, async (world) => {
    const { project, service } = world;
    project.declare(endpoints(3));
    // The one that has to wait comes last: the pause that it asks for would keep back whatever was not sent before.
    service.fault({ operation: "register", kind: "lost-before" });
    service.fault({ operation: "register", kind: "late-response", delayMs: SLOW_MS });
    const headers = { "retry-after": "60" };
    service.fault({ operation: "register", kind: "status", status: 429, headers });
    const started = Date.now();
    await endUp(world, 3, ctrlC);
    expect(Date.now() - started).toBeLessThan(240_000);
    const recorded = Object.values(project.ids());
    expect(recorded.sort()).toEqual([expect.stringMatching(/^pending:/), service.endpoints[0]?.id]);
  }));

const command = join(__dirname, "../../dist/cli/main.js");

test.concurrent.each<[string, new (options: ProjectOptions) => Project]>([
  ["of the library", Project],
  ["of the native plugin", NativeProject],
])(
  "a destroy after a killed up %s leaves what that registered, Pulumi names it, and the first line of doctor deletes it",
  (_, Kind) =>
    inInterruptedWorld(Kind, {}, async (world) => {
      const { project, service } = world;
      project.env.PATH = [fakeNpm(project).bin, project.env.PATH].join(delimiter);
      const declared = endpoints(6);
      const resources = Object.entries(declared).map(([name, properties]) => [
        name,
        { type: "webhooks:WebhookEndpoint", properties },
      ]);
      if (project instanceof NativeProject)
        project.yaml(`resources: ${JSON.stringify(Object.fromEntries(resources))}`);
      else project.declare(declared);
      await endUp(world, 4, sigkill);
      expect(await project.destroy()).toMatch(/::e\d, interrupted while creating/);
      const left = service.endpoints.map(({ id }) => id);
      expect(left).not.toEqual([]);
      expect(project.ids()).toEqual({});
      const doctor = () => project.run(process.execPath, command, "doctor");
      const { output } = await doctor();
      const [, cleaning = "", again] = /\(OPERATION_INTERRUPTED\)\n {2}(.*)\n {2}(.*)$/m.exec(output) ?? [];
      expect(again).toMatch(/^pulumi up --yes --stack dev /);
      for (const id of left) expect(cleaning).toContain(id);
      expect((await project.run("sh", "-c", cleaning)).exitCode).toBe(0);
      expect(service.endpoints).toEqual([]);
      expect((await doctor()).output).toMatch(/Everything that was checked is in order/);
    }),
);
