import { setTimeout as sleep } from "node:timers/promises";
import { Project } from "./project";
import { TinyService } from "./tinyService";

jest.setTimeout(300_000);

let first: TinyService;
let second: TinyService;
let project: Project;

beforeAll(async () => {
  [first, second] = await Promise.all([TinyService.start(), TinyService.start()]);
  // Ids that repeat at the other service tell whether an endpoint of somebody else's is mistaken for the stack's own. Once, "b" even
  // leaves an endpoint of the same id, url and type.
  for (const service of [first, second]) service.numericIds = true;
  for (let made = 0; made < 2; made++) second.add(`https://somebody.example.com/${made}`);
});
afterAll(() => Promise.all([first.stop(), second.stop()]));

beforeEach(() => {
  for (const service of [first, second]) service.changes.length = 0;
  project = new Project({
    config: { "webhooks:baseUrl": first.url, "webhooks:apiKey": "k3y", "webhooks:timeoutSeconds": "5" },
  });
});
afterEach(async () => {
  await project.destroy();
  project.dispose();
  expect(first.endpoints).toEqual([]);
  expect(second.endpoints).toHaveLength(2);
});

const stackUrls = (service: TinyService) =>
  service.endpoints.map(({ url }) => url).filter((url) => !url.includes("somebody"));

/** Declares two endpoints, with the settings of a provider if they have one of their own. */
function declare(provider?: { name: string; baseUrl: string }, path = "moves"): void {
  const options = provider
    ? `{ provider: new WebhooksProvider(${JSON.stringify(provider.name)}, { baseUrl: ${JSON.stringify(provider.baseUrl)} }) }`
    : "{}";
  project.inlineProgram(`const options = ${options};
const dependsOn = [];
for (const name of ["a", "b"])
  dependsOn.push(new WebhookEndpoint(name, { url: "https://hooks.example.com/${path}/" + name, type: "production" }, { ...options, dependsOn: [...dependsOn] }));`);
}
const declared = (path = "moves") => ["a", "b"].map((name) => `https://hooks.example.com/${path}/${name}`);

/** Expects the stack's endpoints at one service alone, and commands that change nothing. */
async function expectSettledAt(service: TinyService): Promise<void> {
  const elsewhere = service === first ? second : first;
  expect(stackUrls(service).sort()).toEqual(declared());
  expect(stackUrls(elsewhere)).toEqual([]);
  const changes = [...first.changes, ...second.changes];
  await project.refresh("--expect-no-changes");
  await project.up("--expect-no-changes");
  expect([...first.changes, ...second.changes]).toEqual(changes);
}

test("an endpoint moves to a provider at another base URL and back, and refresh and destroy work afterwards", async () => {
  declare();
  await project.up();
  declare({ name: "other", baseUrl: second.url });
  await project.up();
  await expectSettledAt(second);
  // What has the same id, url and type elsewhere is told apart by its time, to five seconds: a fast machine moves it sooner.
  await sleep(6_000);
  declare({ name: "third", baseUrl: first.url });
  await project.up();
  await expectSettledAt(first);
  declare();
  await project.up(); // the default provider has the same base URL and key
  await expectSettledAt(first);
  await project.setConfig("webhooks:baseUrl", second.url);
  declare({ name: "third", baseUrl: first.url });
  await project.up();
  declare();
  await project.up();
  await expectSettledAt(second);
});

test.each(["default", "explicit"])(
  "a base URL of the %s provider that was changed by mistake is an error in the preview, and changes nothing",
  async (kind) => {
    const setBaseUrl = async (baseUrl: string, path?: string) => {
      if (kind === "explicit") declare({ name: "own", baseUrl }, path);
      else {
        declare(undefined, path);
        await project.setConfig("webhooks:baseUrl", baseUrl);
      }
    };
    await setBaseUrl(first.url);
    await project.up();
    const [places, ids] = [stackUrls(first).sort(), await project.endpoints()];
    const wrong: [path: string, ...command: string[]][] = [
      ["moves", "preview"],
      ["changed", "preview"], // a changed url does not hide the mistake
      ["moves", "up", "--yes", "--skip-preview"],
    ];
    for (const [path, ...command] of wrong) {
      await setBaseUrl(second.url, path);
      const { exitCode, output } = await project.pulumi(...command);
      expect(exitCode).not.toBe(0);
      const advice = kind === "explicit" ? 'baseUrl of the provider "own"' : "webhooks:baseUrl";
      for (const part of [first.url, second.url, `restore ${advice}`, "OTHER_BASE_URL"])
        expect(output).toContain(part);
    }
    // The failed run has given the provider the wrong settings.
    const { exitCode, output } = await project.pulumi("destroy", "--yes", "--skip-preview");
    expect(exitCode).not.toBe(0);
    expect(output).toContain("--run-program");
    expect(second.changes).toEqual([]);
    expect([stackUrls(first).sort(), Object.keys(await project.endpoints())]).toEqual([
      places,
      Object.keys(ids),
    ]);
    await setBaseUrl(first.url);
    await project.up();
    await expectSettledAt(first);
    expect([...first.changes, ...second.changes]).toEqual(["POST", "POST"]);
  },
);

test("a service that has moved is recorded at its new base URL without a change", async () => {
  declare();
  await project.up();
  const moved = await TinyService.start();
  moved.endpoints.push(...first.endpoints.splice(0));
  await project.setConfig("webhooks:baseUrl", moved.url);
  await project.up();
  await project.refresh("--expect-no-changes");
  await project.up("--expect-no-changes");
  expect(moved.changes).toEqual([]);
  expect(Object.values(await project.endpoints()).map(({ outputs }) => outputs?.baseUrl)).toEqual([
    moved.url,
    moved.url,
  ]);
  await project.destroy();
  expect(moved.endpoints).toEqual([]);
  await moved.stop();
});

test("adoptId with a new name and a new provider never deletes the endpoint", async () => {
  declare();
  await project.up();
  const [adopted] = first.endpoints;
  project.inlineProgram(`const options = { provider: new WebhooksProvider("new") };
new WebhookEndpoint("renamed", { url: ${JSON.stringify(adopted?.url)}, type: "production", adoptId: ${JSON.stringify(adopted?.id)} }, options);`);
  await project.up();
  expect(first.endpoints).toEqual([adopted]);
  await project.refresh("--expect-no-changes");
});
