import { Project } from "./project";
import { TinyService } from "./tinyService";

jest.setTimeout(300_000);

let service: TinyService;
let project: Project;

beforeAll(async () => {
  service = await TinyService.start();
  project = new Project({
    config: { "webhooks:baseUrl": service.url, "webhooks:apiKey": "k3y", "webhooks:timeoutSeconds": "5" },
  });
});
afterAll(async () => {
  project.dispose();
  await service.stop();
});

const url = (name: string) => `https://hooks.example.com/${name}`;
const names = ["kept", "kept-before"];
const optionsOf = (name: string) => ({ deleteBeforeReplace: name.endsWith("before") });
const replaceAll = () => project.up(...names.flatMap((name) => ["--replace", project.urn(name)]));
const taintAll = async () => {
  for (const name of names) await project.succeed("state", "taint", project.urn(name));
  return project.up();
};
const idsInState = async () =>
  Object.fromEntries(Object.entries(await project.endpoints()).map(([name, { id }]) => [name, id]));

test("an adopted endpoint outlives --replace and taint, until adoptId is removed", async () => {
  const found = Object.fromEntries(names.map((name) => [name, service.add(url(name)).id]));
  const declare = (ids: Record<string, string | undefined>) =>
    project.declare(
      Object.fromEntries(
        names.map((name) => [
          name,
          {
            url: url(name),
            type: "production",
            ...(ids[name] && { adoptId: ids[name] }),
            opts: optionsOf(name),
          },
        ]),
      ),
    );
  declare(found);
  await project.up();
  for (const replace of [replaceAll, taintAll]) {
    const output = await replace();
    const kept = output.matchAll(
      /endpoint (\S+) is kept, because adoptId names it. Remove adoptId to register a new one/g,
    );
    expect(new Set([...kept].map(([, id]) => id))).toEqual(new Set(Object.values(found)));
    expect(await idsInState()).toEqual(found);
    expect(service.changes).toEqual([]);
  }

  // Deleted behind Pulumi's back, and refreshed: the journal knows that it was ours.
  service.endpoints.length = 0;
  await project.refresh();
  expect(await idsInState()).toEqual({});
  expect(await project.up()).toMatch(/no longer exists, so a new one is registered. Remove adoptId/);
  const renewed = await idsInState();
  expect(Object.values(renewed).sort()).toEqual(service.endpoints.map(({ id }) => id).sort());

  // Without a journal nothing shows that it was.
  service.endpoints.length = 0;
  await project.refresh();
  const home = project.env.PULUMI_HOME;
  project.env.PULUMI_HOME = `${home}-of-another-machine`;
  const { exitCode, output } = await project.pulumi("up", "--yes", "--skip-preview", "--stack", "dev");
  project.env.PULUMI_HOME = home;
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/ADOPT_NOT_FOUND/);
  expect(output).toMatch(/remove it to register a new one/);

  declare({});
  await project.up();
  const before = await idsInState();
  await replaceAll();
  const after = await idsInState();
  for (const name of names) expect(after[name]).not.toBe(before[name]);
  expect(service.endpoints.map(({ id }) => id).sort()).toEqual(Object.values(after).sort());
});

test("ifExists fail does not refuse the resource's own endpoint under --replace and taint, but another's", async () => {
  const declare = (more: object = {}) =>
    project.declare({
      ...Object.fromEntries(
        names.map((name) => [
          name,
          { url: url(name), type: "production", ifExists: "fail", opts: optionsOf(name) },
        ]),
      ),
      ...more,
    });
  declare();
  await project.up();
  for (const replace of [replaceAll, taintAll]) {
    const before = await idsInState();
    await replace();
    const after = await idsInState();
    for (const name of names) expect(after[name]).not.toBe(before[name]);
    expect(service.endpoints.map(({ id }) => id).sort()).toEqual(Object.values(after).sort());
  }
  declare({ another: { url: url("kept"), type: "production", ifExists: "fail" } });
  const { exitCode, output } = await project.pulumi("preview");
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/ENDPOINT_EXISTS/);
});

test("renames, swaps, equal resources, state delete and another stack take over nobody's endpoint", async () => {
  const at = (path: string, opts: object = {}) => ({ url: url(path), type: "production", opts });
  await project.destroy();
  const stranger = service.add(url("x"));
  const noStranger = () => service.endpoints.filter(({ id }) => id !== stranger.id);
  const settled = async (count: number) => {
    const recorded = Object.values(await project.endpoints());
    expect(recorded.map(({ id }) => id).sort()).toEqual(
      noStranger()
        .map(({ id }) => id)
        .sort(),
    );
    expect(recorded).toHaveLength(count);
    expect(service.endpoints).toContainEqual(stranger);
    const urls = new Map(service.endpoints.map(({ id, url: at }) => [id, at]));
    for (const { id = "", inputs } of recorded) expect(urls.get(id)).toBe(inputs?.url);
  };
  project.declare({ a: at("x"), b: at("y"), equal: at("y") });
  await project.up();
  await settled(3);
  project.declare({ a: at("y"), b: at("x"), equal: at("y") }); // swapped
  await project.up();
  await settled(3);
  project.declare({ renamed: at("y"), aliased: at("x", { aliases: [{ name: "b" }] }), equal: at("y") });
  await project.up();
  await settled(3);
  await project.up("--replace", project.urn("renamed"), "--replace", project.urn("equal"));
  await settled(3);
  // What somebody took out of the state is no longer this stack's.
  const dropped = (await project.endpoints()).aliased?.id;
  await project.succeed("state", "delete", project.urn("aliased"));
  await project.up();
  expect((await project.endpoints()).aliased?.id).not.toBe(dropped);
  service.endpoints.splice(
    service.endpoints.findIndex(({ id }) => id === dropped),
    1,
  );
  await settled(3);
  // Another stack that was given this one's name.
  await project.succeed("stack", "rename", "renamed");
  await project.succeed("stack", "init", "dev");
  for (const key of ["baseUrl", "apiKey", "timeoutSeconds"])
    await project.setConfig(
      `webhooks:${key}`,
      { baseUrl: service.url, apiKey: "k3y", timeoutSeconds: "5" }[key] ?? "",
    );
  const before = noStranger().map(({ id }) => id);
  await project.up();
  const own = Object.values(await project.endpoints()).map(({ id = "" }) => id);
  expect(own.filter((id) => before.includes(id))).toEqual([]);
  expect(service.endpoints).toHaveLength(7);
});
