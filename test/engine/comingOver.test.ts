import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { snippetsOf } from "../receiver/readme/snippets";
import { inWorld, type World } from "./httpService";
import { NativeProject } from "./nativeProject";
import { API_KEY, at, type Declared, JAVASCRIPT, Project } from "./project";

// The ways of docs/coming-over.md. What `adopt` writes is run in commands.test.ts.

jest.setTimeout(300_000);

const page = readFileSync(join(__dirname, "../../docs/coming-over.md"), "utf8");
const documented = snippetsOf(page).map(({ code }) =>
  ts.transpile(code, { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 }),
);
const snippet = (what: string) => documented.find((code) => code.includes(what)) ?? "";
const python = /```python\n(.*?)```/s.exec(page)?.[1] ?? "";

/** A dynamic provider as people write one: its output for the url has this name, and its code holds the API key. */
const handWritten = ({ url }: { readonly url: string }, name = "url") => `
const provider = {
  async create({ ${name}: url, type }) {
    const headers = { "content-type": "application/json", "x-api-key": "${API_KEY}" };
    const response = await fetch("${url}/webhooks", { method: "POST", headers, body: JSON.stringify({ url, type }) });
    const { id } = await response.json();
    return { id, outs: { ${name}: url, type } };
  },
  async delete(id) {
    await fetch("${url}/webhooks/" + id, { method: "DELETE", headers: { "x-api-key": "${API_KEY}" } });
  },
};
class Hook extends pulumi.dynamic.Resource {
  constructor(name, props, opts, ...type) { super(provider, name, props, opts, ...type); }
}
const group = new pulumi.ComponentResource("acme:index:Group", "group");
`;
const HOOK = "pulumi-nodejs:dynamic/acme:Hook";
const ENDPOINT = "pulumi-nodejs:dynamic/webhooks:WebhookEndpoint";
const urnOf = (type: string, name: string, project = "test") =>
  `urn:pulumi:dev::${project}::${type}::${name}`;
const declaring = (name: string, path: string, opts = "{}") =>
  `new WebhookEndpoint("${name}", ${JSON.stringify(at(path))}, ${opts});\n`;

/** Runs a way on, which must leave the service as it is, with the endpoints of these paths under these names, and then an idle \`up\`. */
async function keeps({ service, project }: World, declared: Declared, way: () => Promise<unknown>) {
  const before = structuredClone(service.endpoints.map(({ by, ...endpoint }) => endpoint));
  service.requests.length = 0;
  await way();
  expect(service.endpoints.map(({ by, ...endpoint }) => endpoint)).toEqual(before);
  service.expectExactly(project, declared);
  expect(await project.up()).toMatch(/Resources:\n +\d+ unchanged\n/);
  expect(service.changes).toEqual([]);
}

test.concurrent("an alias takes over what a dynamic provider has, whatever its type, name and parent were, and the key leaves the state", () =>
  inWorld(Project, {}, async (world) => {
    const { project, service } = world;
    project.program(`${handWritten(service)}
new Hook("jobs", ${JSON.stringify(at("jobs"))});
new Hook("typed", ${JSON.stringify(at("typed"))}, {}, "acme", "Hook");
new Hook("old-name", ${JSON.stringify(at("named"))}, {}, "acme", "Hook");
new Hook("out", ${JSON.stringify(at("out"))}, { parent: group }, "acme", "Hook");
new Hook("in", ${JSON.stringify(at("in"))}, {}, "acme", "Hook");`);
    await project.up();
    expect(project.filesAtRest()).toContain(API_KEY);
    project.write("jobs.js", snippet("dynamic:Resource"));
    const alias = (more = "") => `aliases: [{ type: "${HOOK}", ${more} }]`;
    project.program(`require("./jobs.js");
const group = new pulumi.ComponentResource("acme:index:Group", "group");
${declaring("typed", "typed", `{ ${alias()} }`)}
${declaring("named", "named", `{ ${alias('name: "old-name"')} }`)}
${declaring("out", "out", `{ ${alias("parent: group")} }`)}
${declaring("in", "in", `{ parent: group, ${alias("parent: pulumi.rootStackResource")} }`)}`);
    const paths = ["jobs", "typed", "named", "out", "in"];
    await keeps(world, Object.fromEntries(paths.map((path) => [path, at(path)])), async () => {
      expect(await project.preview()).toMatch(/Resources:\n +~ 5 to update\n +2 unchanged/);
      await project.up();
    });
    expect(JSON.stringify(project.state())).not.toContain(API_KEY);
    await project.destroy();
    expect(service.endpoints).toEqual([]);
  }));

test.concurrent("after `state delete`, what a dynamic provider with other outputs has is adopted, and so is what a script registered", () =>
  inWorld(Project, {}, async (world) => {
    const { project, service } = world;
    project.program(`${handWritten(service, "endpoint")}
new Hook("jobs", { endpoint: ${JSON.stringify(at("jobs").url)}, type: "production" }, {}, "acme", "Hook");`);
    await project.up();
    service.add({ url: at("scripted").url });
    const declared = { jobs: at("jobs"), scripted: at("scripted") };
    await keeps(world, declared, async () => {
      project.declare({ jobs: at("jobs") });
      const stop = await project.fail("preview");
      expect(stop).toMatch(/"jobs" of the type \S+ has it.*pulumi state delete .*::jobs.*ENDPOINT_EXISTS/s);
      expect(await project.succeed("stack", "--show-urns")).toContain(urnOf(HOOK, "jobs"));
      await project.succeed("state", "delete", urnOf(HOOK, "jobs"), "--yes");
      project.declare(declared);
      project.env.WEBHOOKS_IF_EXISTS = "adopt";
      const [{ id } = { id: "" }] = service.endpoints;
      expect(await project.preview()).toContain(`WebhookEndpoint "jobs": adopts ${id}`);
      await project.up();
      project.env.WEBHOOKS_IF_EXISTS = "";
    });
  }));

test.concurrent("in Python, an alias takes over what a dynamic provider has to the native plugin", () =>
  inWorld(NativeProject, {}, async (world) => {
    const { project, service } = world;
    await project.installPythonSdk();
    // As Pulumi's own file of that name.
    const plugin = "plugins/pulumi-resource-pulumi-python";
    project.write(plugin, '#!/bin/sh\nexec python3 -u -m pulumi.dynamic "$@"\n');
    chmodSync(join(project.folder, plugin), 0o755);
    project.write("Pulumi.yaml", "name: test\nruntime: python\n");
    project.write("requirements.txt", "");
    project.write(
      "__main__.py",
      `from pulumi.dynamic import CreateResult, Resource, ResourceProvider

class Provider(ResourceProvider):
    def create(self, props):
        import json, urllib.request
        headers = {"content-type": "application/json", "x-api-key": "${API_KEY}"}
        body = json.dumps({"url": props["url"], "type": props["type"]}).encode()
        request = urllib.request.Request("${service.url}/webhooks", body, headers)
        with urllib.request.urlopen(request) as response:
            return CreateResult(json.load(response)["id"], props)

class Hook(Resource):
    def __init__(self, name, url, type):
        super().__init__(Provider(), name, {"url": url, "type": type})

Hook("jobs", "${at("jobs").url}", "production")
`,
    );
    await project.up();
    project.write("__main__.py", python);
    await keeps(world, { jobs: at("jobs") }, async () => {
      expect(await project.preview()).toMatch(/Resources:\n +~ 1 to update\n +1 unchanged/);
      await project.up();
    });
  }));

test.concurrent("`state move` moves endpoints to another project, with their provider and out of a component", () =>
  inWorld(Project, {}, async ({ project, service }) => {
    const { PULUMI_BACKEND_URL = "" } = project.env;
    const other = new Project({ config: service.config, env: { PULUMI_BACKEND_URL } });
    try {
      const account = 'const account = new WebhooksProvider("account");\n';
      const program = (parent = "") =>
        `${account}${declaring("jobs", "jobs")}${declaring("explicit", "explicit", "{ provider: account }")}${declaring("inner", "inner", parent)}`;
      const group = 'const group = new pulumi.ComponentResource("acme:index:Group", "group");';
      project.program(group + program("{ parent: group }"));
      await project.up();
      const before = project.ids();
      service.requests.length = 0;
      other.write("Pulumi.yaml", JAVASCRIPT.replace("name: test", "name: hooks"));
      other.program("");
      const urns = [
        urnOf(ENDPOINT, "jobs"),
        urnOf(ENDPOINT, "explicit"),
        urnOf(`acme:index:Group$${ENDPOINT}`, "inner"),
      ];
      const stacks = ["--source", "organization/test/dev", "--dest", "organization/hooks/dev"];
      await other.succeed("stack", "--show-urns");
      await project.succeed("state", "move", "--yes", ...stacks, ...urns);
      project.program(group + account);
      other.program(program());
      expect(await other.up()).toMatch(/Resources:\n +5 unchanged\n/);
      expect(await project.up()).toMatch(/Resources:\n +3 unchanged\n/);
      expect(project.ids()).toEqual({});
      const { deployment } = JSON.parse(await other.succeed("stack", "export"));
      const moved = Object.entries(before).map(([name, id]) =>
        expect.objectContaining({ id, urn: urnOf(ENDPOINT, name, "hooks") }),
      );
      expect(deployment.resources).toEqual(expect.arrayContaining(moved));
      expect(service.changes).toEqual([]);
    } finally {
      other.dispose();
    }
  }));

test.concurrent("an alias takes endpoints into the component of a package, and the component's alias to another type", () =>
  inWorld(Project, {}, async (world) => {
    const { project, service } = world;
    const declared = { jobs: at("jobs") };
    project.declare(declared);
    await project.up();
    const component = snippet("acme:index:Hooks");
    for (const [type, opts] of [
      ["shop:index:Hooks", "{}"],
      ["acme:index:Hooks", '{ aliases: [{ type: "shop:index:Hooks" }] }'],
    ] as const) {
      project.write("hooks.js", component.replace("acme:index:Hooks", type));
      project.program(`new (require("./hooks.js").Hooks)("jobs", ${JSON.stringify(at("jobs"))}, ${opts});`);
      await keeps(world, declared, () => project.up());
      expect(project.endpoints().jobs?.urn).toBe(urnOf(`${type}$${ENDPOINT}`, "jobs"));
    }
    expect(service.endpoints).toHaveLength(1);
  }));

test.concurrent("endpoints move to the native plugin and back, also those of an explicit provider", () =>
  inWorld(NativeProject, {}, async (world) => {
    const { project } = world;
    const declared = { jobs: at("jobs"), explicit: at("explicit") };
    const library = (aliases = "", adoptId = "") => {
      project.write("Pulumi.yaml", JAVASCRIPT);
      project.program(`const account = new WebhooksProvider("account");
${declaring("jobs", "jobs", `{ ${aliases} }`)}
new WebhookEndpoint("explicit", { ...${JSON.stringify(at("explicit"))}, ${adoptId} }, { provider: account });`);
    };
    library();
    await project.up();
    await keeps(world, declared, async () => {
      const { explicit = "" } = project.ids();
      await project.succeed("state", "delete", urnOf(ENDPOINT, "explicit"), "--yes");
      const native = (endpoints: object) =>
        project.yaml(
          `resources: ${JSON.stringify({ account: { type: "pulumi:providers:webhooks" }, ...endpoints })}`,
        );
      const jobs = { type: "webhooks:WebhookEndpoint", properties: at("jobs") };
      native({ jobs });
      await project.up();
      const provider = `account=${urnOf("pulumi:providers:webhooks", "account")}`;
      const endpoint = ["webhooks:index:WebhookEndpoint", "explicit", explicit];
      await project.succeed(
        "import",
        ...endpoint,
        "--provider",
        provider,
        "--yes",
        "--protect=false",
        "--generate-code=false",
      );
      const options = { provider: `$${"{account}"}` };
      native({ jobs, explicit: { ...jobs, properties: at("explicit"), options } });
      await project.up();
    });
    await keeps(world, declared, async () => {
      const { explicit = "" } = project.ids();
      await project.succeed("state", "delete", urnOf("webhooks:index:WebhookEndpoint", "explicit"), "--yes");
      library('aliases: [{ type: "webhooks:index:WebhookEndpoint" }]', `adoptId: "${explicit}"`);
      await project.up();
    });
  }));

test.concurrent("from two accounts to one, an endpoint is registered in its new account before the old one is deleted with its own key", () =>
  inWorld(Project, {}, async ({ project, service }) => {
    service.accounts.set("key-of-staging", "staging");
    const provider = 'const staging = new WebhooksProvider("staging", { apiKey: "key-of-staging" });\n';
    project.program(
      provider + declaring("jobs", "jobs") + declaring("moved", "moved", "{ provider: staging }"),
    );
    await project.up();
    const before = project.ids();
    service.requests.length = 0;
    project.program(declaring("jobs", "jobs") + declaring("moved", "moved"));
    expect(await project.preview()).toMatch(/\+-1 to replace/);
    await project.up();
    expect(service.changes).toEqual(["register", "delete"]);
    expect(service.requests.at(-1)).toMatchObject({ operation: "delete", account: "staging" });
    service.expectExactly(project, { jobs: at("jobs"), moved: at("moved") });
    expect(project.ids()).toEqual({ jobs: before.jobs, moved: service.find("moved")?.id });
    expect(service.endpoints.map(({ account }) => account)).toEqual(["default", "default"]);
  }));
