import { inCloudWorld } from "./cloud/cloudWorld";
import { NativeProject } from "./nativeProject";
import { allAt, at, Project, type ProjectOptions } from "./project";

jest.setTimeout(300_000);

const NAMES = ["a", "b", "c", "d", "e", "f"];
const declared = allAt(NAMES);
const resources = Object.fromEntries(
  NAMES.map((name) => [name, { type: "webhooks:WebhookEndpoint", properties: at(name) }]),
);

test.concurrent.each<[string, new (options: ProjectOptions) => Project]>([
  ["with the library", Project],
  ["natively", NativeProject],
])("%s, one up with WEBHOOKS_IF_EXISTS=adopt takes over what somebody registered by hand", (_, OneProject) =>
  inCloudWorld(OneProject, {}, async ({ project, service }) => {
    const found = NAMES.map((name) => service.add({ url: at(name).url }));
    const equal = service.add({ url: at("c").url });
    if (project instanceof NativeProject) project.yaml(`resources: ${JSON.stringify(resources)}`);
    else project.declare(declared);
    const stop = await project.fail("preview");
    expect(stop).toMatch(/no resource for 7 endpoints.*WEBHOOKS_IF_EXISTS=adopt pulumi up.*ENDPOINT_EXISTS/s);

    project.env.WEBHOOKS_IF_EXISTS = "adopt";
    const both = await project.fail("preview");
    for (const id of [found[2]?.id, equal.id])
      expect(both).toMatch(new RegExp(`${id} .*ENDPOINT_EXISTS`, "s"));
    service.remove(equal.id);
    const preview = await project.preview();
    for (const [index, name] of NAMES.entries())
      expect(preview).toContain(
        `WebhookEndpoint "${name}": adopts ${found[index]?.id} (https://hooks.example.com/…)`,
      );
    await project.up();
    expect(Object.values(project.ids()).sort()).toEqual(found.map(({ id }) => id).sort());
    project.env.WEBHOOKS_IF_EXISTS = "";
    expect(await project.up()).toMatch(/Resources:\s+[78] unchanged/);
    expect(service.changes).toEqual([]);
  }),
);
