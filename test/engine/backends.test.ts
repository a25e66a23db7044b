import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { inCloudWorld, useLogin } from "./cloud/cloudWorld";
import { inWorld, type World } from "./httpService";
import { endUp, sigkill } from "./interruption";
import { NativeProject } from "./nativeProject";
import { API_KEY, allAt, at, type Declared, Project, type ProjectOptions } from "./project";

jest.setTimeout(600_000);

const LIMIT = { "webhooks:timeoutSeconds": "10" };
/** The backend, which a test names otherwise. */
const RELATIVE = "file://./backend";
/** The program is in a folder of its own, so the plugin is not where a relative backend counts from. */
const inSrc = (runtime: string, more = "") => `name: test\nruntime: ${runtime}\nmain: src/\n${more}`;
const NODE = "{ name: nodejs, options: { typescript: false } }";

const TWENTY = Array.from({ length: 20 }, (_, at) => `e${at}`);

/** Makes a stack with a program in `src`, and its service. */
async function inSrcWorld<P extends Project>(
  Kind: new (options: ProjectOptions) => P,
  env: Readonly<Record<string, string>>,
  act: (world: World<P>) => Promise<void>,
): Promise<void> {
  await inWorld(Kind, { config: LIMIT, env }, async (world) => {
    const { project } = world;
    mkdirSync(join(project.folder, "src"));
    project.write("src/index.js", 'require("../index.js");');
    await act(world);
    expect(existsSync(join(project.folder, "src/.pulumi"))).toBe(false);
  });
}

/** Runs a line of shell without the project's stack. */
const shell = ({ folder, env }: Project, line: string) =>
  promisify(execFile)("sh", ["-c", line], { cwd: folder, env });

/** An endpoint in a YAML program. JSON is YAML. */
function yamlOf(declared: Declared): string {
  const entries = Object.entries(declared).map(([name, properties]) => [
    name,
    { type: "webhooks:WebhookEndpoint", properties },
  ]);
  return JSON.stringify({ resources: Object.fromEntries(entries) });
}

test.concurrent("with a relative backend in Pulumi.yaml and a program in src, an up after a kill ends with exactly what is declared", () =>
  inSrcWorld(Project, { PULUMI_BACKEND_URL: "" }, async (world) => {
    const { project, service } = world;
    // A kill can leave a file of attributes empty (engine rule 26).
    project.write("Pulumi.yaml", inSrc(NODE, `backend: { url: "${RELATIVE}?metadata=skip" }\n`));
    const declared = allAt(TWENTY);
    project.declare(declared);
    await project.makeStack();
    await endUp(world, 10, sigkill);
    expect(await project.up()).toMatch(/took over wh_\d+/);
    service.expectExactly(project, declared);
  }));

test.concurrent.each<[string, Readonly<Record<string, string>>]>([
  ["PULUMI_BACKEND_URL is relative", { PULUMI_BACKEND_URL: RELATIVE }],
  ["`pulumi login` named a relative backend", { PULUMI_BACKEND_URL: "" }],
  [
    "the backend was never upgraded to projects",
    {
      PULUMI_DIY_BACKEND_LEGACY_LAYOUT: "1",
      PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_WARNING: "1",
    },
  ],
])("a rename without an alias works where %s", (where, env) =>
  inSrcWorld(Project, env, async ({ project, service }) => {
    project.write("Pulumi.yaml", inSrc(NODE));
    if (/login/.test(where)) await shell(project, `pulumi login ${RELATIVE}`);
    for (const name of ["one", "two"]) {
      project.declare({ [name]: at("same") });
      expect(await project.up()).not.toMatch(/cannot be read/);
    }
    expect(service.changes).toEqual(["register", "register", "delete"]);
  }),
);

test.concurrent("natively, an up after a kill stops and names what is left, wherever the backend is, and one with ifExists adopts that", () =>
  inSrcWorld(NativeProject, { PULUMI_BACKEND_URL: RELATIVE }, async (world) => {
    const { project, service } = world;
    project.env.PULUMI_BACKEND_URL += "?metadata=skip";
    project.write("Pulumi.yaml", inSrc("yaml"));
    const program = (declared: Declared) => project.write("src/Main.yaml", yamlOf(declared));
    program({ one: allAt(["same"]).same ?? {} });
    await project.up();
    program({ two: allAt(["same"]).same ?? {} });
    await project.up();
    expect(service.changes).toEqual(["register", "register", "delete"]);

    program({ two: allAt(["same"]).same ?? {}, ...allAt(TWENTY) });
    await endUp(world, 10, sigkill);
    const output = await project.failUp();
    expect(output).toMatch(/REGISTRATION_IN_DOUBT/);
    const recorded = Object.values(project.ids());
    const left = service.endpoints.filter(({ id }) => !recorded.includes(id));
    expect(left.some(({ id }) => output.includes(id))).toBe(true);
    for (const { id, url } of left)
      expect(service.endpoints.filter((each) => each.url === url)).toMatchObject([{ id }]);

    project.env.WEBHOOKS_IF_EXISTS = "adopt";
    await project.up();
    service.expectExactly(project, { two: {}, ...allAt(TWENTY) });
  }));

/** Runs an inline program as the Automation API does, in the current backend or in one of its own, without a folder. */
const INLINE = `
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const { WebhookEndpoint } = require("pulumi-webhook-endpoints");
const [url, name, envVars] = process.argv.slice(2);
const program = async () => void new WebhookEndpoint(name, { url: "https://hooks.example.com/b", type: "production" });
const projectSettings = { name: "test", runtime: "nodejs", main: process.cwd(), ...(url && { backend: { url } }) };
(async () => {
  const options = { projectSettings, envVars: JSON.parse(envVars) };
  const stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "test", program }, options);
  await stack.up({ onOutput: (text) => process.stdout.write(text) });
})().catch((error) => { console.log(error.message); process.exitCode = 1; });
`;

/** Makes what runs an inline program, which declares an endpoint of this name. Rejects with what it printed. */
function inlineIn({ project, service }: World) {
  project.write("src/inline.js", INLINE);
  Object.assign(project.env, { WEBHOOKS_BASE_URL: service.url, WEBHOOKS_API_KEY: API_KEY });
  return (backend: string, name: string, envVars = {}) =>
    shell(
      project,
      `cd src && env -u PULUMI_BACKEND_URL node inline.js '${backend}' ${name} '${JSON.stringify(envVars)}'`,
    ).catch(({ stdout }) => Promise.reject(new Error(stdout)));
}

test.concurrent("an inline program with a backend of its own takes nothing for its own that a stack of the shell's backend has", () =>
  inSrcWorld(Project, {}, async (world) => {
    const { project, service } = world;
    const up = inlineIn(world);
    await shell(project, "pulumi login $PULUMI_BACKEND_URL");
    const [old = "", own] = [project.env.PULUMI_BACKEND_URL, `file://${project.folder}/own`];
    mkdirSync(join(project.folder, "own"));
    await up("", "hooks");
    // A file of this project in the folder, which the run does not use, changes nothing.
    await expect(up(own, "hooks")).rejects.toThrow(/another backend.*PULUMI_BACKEND_URL.*ENDPOINT_EXISTS/s);
    expect(service.changes).toEqual(["register"]);
    // In its own backend it is proven, and a rename works.
    await up("", "renamed", { PULUMI_BACKEND_URL: old });
    expect(service.changes).toEqual(["register", "register", "delete"]);
  }));

test.concurrent("an inline program in Pulumi Cloud renames what its stack has, and in a backend of its own takes nothing from that, though it is updated", () =>
  inCloudWorld(Project, { config: LIMIT, switches: { shows: "before" } }, async (world) => {
    const { project, service, cloud } = world;
    for (const folder of ["src", "own"]) mkdirSync(join(project.folder, folder));
    await useLogin(world);
    const up = inlineIn(world);
    for (const name of ["hooks", "renamed"]) await up("", name);
    expect(service.changes).toEqual(["register", "register", "delete"]);

    const stack = cloud.stack(project.stackName);
    stack.start(stack.plan("update"), true);
    project.env.PULUMI_CONFIG_PASSPHRASE = "test";
    await expect(up(`file://${project.folder}/own`, "other")).rejects.toThrow(
      /another backend.*PULUMI_BACKEND_URL.*ENDPOINT_EXISTS/s,
    );
    expect(service.changes).toHaveLength(3);
  }));
