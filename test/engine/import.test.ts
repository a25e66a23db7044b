import { type Emulator, startEmulator } from "../../src/emulator";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { Project } from "./project";

jest.setTimeout(300_000);

const jobs = { url: "https://hooks.example.com/jobs", type: "production" } as const;

let emulator: Emulator;
let project: Project;

beforeAll(async () => {
  emulator = await startEmulator();
  project = new Project({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
  });
});
afterAll(async () => {
  project.dispose();
  await emulator.close();
});

test("an endpoint from an import file is a full resource: it previews clean, refreshes and is destroyed", async () => {
  const { id } = emulator.add(jobs);
  const properties = { ...jobs, __provider: PROVIDER_CODE };
  const entry = { type: TYPE_TOKEN, name: "jobs", id, inputs: properties, outputs: properties };
  project.write("import.json", JSON.stringify({ resources: [entry] }));
  await project.succeed(
    ...[
      "import",
      "--file",
      "import.json",
      "--yes",
      "--skip-preview",
      "--protect=false",
      "--generate-code=false",
    ],
  );

  project.declare({ jobs });
  await project.preview("--expect-no-changes");
  expect(await project.up("--refresh")).toMatch(/2 unchanged/);
  expect((await project.endpoints()).jobs).toMatchObject({ id, outputs: { baseUrl: emulator.url } });
  expect((await project.endpoints()).jobs?.outputs).not.toHaveProperty("external");

  await project.destroy("--refresh");
  expect(emulator.endpoints()).toEqual([]);
});

test("the import option fails the preview with the ways that work", async () => {
  const { id } = emulator.add(jobs);
  project.declare({ jobs: { ...jobs, opts: { import: id } } });
  const { exitCode, output } = await project.pulumi("preview");
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/error: .*"jobs".*import option.*adoptId.*pulumi import --file/);
  expect(output).not.toMatch(/\n\s+at /);
});
