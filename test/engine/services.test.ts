import { AnotherService, anotherKey } from "./anotherService";
import { Project } from "./project";

jest.setTimeout(300_000);

let service: AnotherService;
let project: Project;

beforeAll(async () => {
  service = new AnotherService();
  project = new Project({
    config: {
      "webhooks:baseUrl": await service.listen(),
      "webhooks:apiKey": anotherKey,
      "webhooks:apiKeyHeader": "Authorization",
      "webhooks:apiKeyScheme": "Bearer",
    },
  });
});

afterAll(async () => {
  project.dispose();
  await service.close();
});

const urls = () => [...service.hooks.values()].map(({ url }) => url).sort();

test("a service with another header, envelope and id format works by configuration alone, from up to destroy", async () => {
  const spelled = { url: "HTTPS://Hooks.Example.COM:443", type: "production" };
  const escaped = { url: "https://hooks.example.com/a b?q=ä".replace(" ", "%20"), type: "development" };
  const plain = { url: "https://hooks.example.com/plain", type: "production", ip: "2001:db8::/32" };
  project.declare({ spelled, escaped, plain });
  await project.up();
  expect(urls()).toEqual([
    "https://hooks.example.com/",
    "https://hooks.example.com/a%20b?q=%C3%A4",
    "https://hooks.example.com/plain",
  ]);

  // However often it is looked at, what is spelled otherwise there is the same here.
  service.changes.length = 0;
  expect(await project.up()).toMatch(/4 unchanged/);
  expect(await project.refresh()).toMatch(/4 unchanged/);
  expect(await project.up("--refresh")).toMatch(/4 unchanged/);
  expect(await project.preview("--expect-no-changes")).toMatch(/4 unchanged/);
  expect(service.changes).toEqual([]);
  const before = await project.endpoints();
  expect(before.spelled?.outputs).toMatchObject({
    url: spelled.url,
    createdAt: "Tue, 3rd of June (about noon)",
  });

  const [gone] = [...service.hooks.keys()].filter((id) => id === before.plain?.id);
  service.hooks.delete(gone ?? "");
  expect(await project.refresh()).toMatch(/plain deleted/);
  project.declare({ spelled: { ...spelled, url: "https://hooks.example.com/moved" }, escaped, plain });
  expect(await project.up()).toMatch(/\+ 1 created[\s\S]*1 replaced/);
  expect(service.changes.map((change) => change.split(" ")[0]).sort()).toEqual(["DELETE", "POST", "POST"]);
  expect(urls()).toEqual([
    "https://hooks.example.com/a%20b?q=%C3%A4",
    "https://hooks.example.com/moved",
    "https://hooks.example.com/plain",
  ]);
  expect(Object.keys(await project.endpoints()).sort()).toEqual(["escaped", "plain", "spelled"]);

  await project.destroy();
  expect(urls()).toEqual([]);
  expect(project.transcript).not.toContain(anotherKey);
  expect(project.filesAtRest()).not.toContain(anotherKey);
});
