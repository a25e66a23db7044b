// The stacks whose `up` `npm run kills` kills: what is there before, what is declared then, and what else differs.

import { join } from "node:path";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import type { Registered } from "../provider/fakeService";
import type { HttpService, World } from "./httpService";
import { NativeProject } from "./nativeProject";
import { allAt, at, type Declared, Project } from "./project";

const NATIVE_TOKEN = "webhooks:index:WebhookEndpoint";

class YamlProject extends NativeProject {
  override declare(endpoints: Declared): void {
    const resources = Object.entries(endpoints).map(([name, properties]) => [
      name,
      { type: "webhooks:WebhookEndpoint", properties },
    ]);
    this.yaml(`resources: ${JSON.stringify(Object.fromEntries(resources))}\n`);
  }
}

export const PROVIDERS = { library: Project, native: YamlProject };
export type Provider = keyof typeof PROVIDERS;
export const ADOPT = { WEBHOOKS_IF_EXISTS: "adopt" };
export const ENVIRONMENTS = { plain: {}, adopt: ADOPT };
export type Environment = keyof typeof ENVIRONMENTS;

const BEFORE = allAt(["kept", "replaced", "deleted"]);
const DECLARED = { ...allAt(["kept", "created"]), replaced: at("replaced", { ip: "203.0.113.7" }) };

/** A stack whose next `up` creates, replaces and deletes, and perhaps more. */
export interface Story {
  /** Begins the lines of its cases. */
  readonly name: string;
  readonly declared: Declared;
  /** Of the `up` that is killed. */
  readonly flags: readonly string[];
  readonly environments: readonly Environment[];
  /**
   * Makes what the story needs besides, in a stack that has what is declared before. Returns the endpoints that are to stay whose they are.
   */
  readonly prepare: (world: World, provider: Provider) => Promise<readonly Registered[]>;
  /** What ends after the `up` that is killed. */
  readonly relieve: (service: HttpService) => void;
}

const PLAIN: Story = {
  name: "",
  declared: DECLARED,
  flags: [],
  environments: ["plain", "adopt"],
  prepare: async () => [],
  relieve: () => {},
};

/** The service refuses a registration, and the run goes on with the others. */
const CONTINUING: Story = {
  ...PLAIN,
  name: "--continue-on-error",
  declared: { ...DECLARED, ...allAt(["refused"]) },
  flags: ["--continue-on-error"],
  environments: ["plain"],
  prepare: async ({ service }) => {
    refuse(service, at("refused").url);
    return [];
  },
  relieve: (service) => Reflect.deleteProperty(service, "dispatch"),
};

/** One endpoint came with `state move`, one was imported, and one that nobody has is adopted. */
const COMING: Story = {
  ...PLAIN,
  name: "moved and imported",
  declared: { ...DECLARED, ...allAt(["moved", "imported", "adopted"]) },
  environments: ["adopt"],
  prepare: async (world, provider) => {
    const made = Date.now() - 3_600_000;
    const [imported, adopted] = ["imported", "adopted"].map((path) =>
      world.service.add({ url: at(path).url, made }),
    );
    if (imported === undefined || adopted === undefined) throw new Error("nothing was added");
    await importInto(world.project, provider, imported.id);
    const moved = await moveInto(world, provider);
    return [imported, adopted, moved];
  },
};

export const STORIES = { PLAIN, CONTINUING, COMING };

/** Makes a stack whose next `up` creates, replaces and deletes, beside endpoints of others that are nearly equal. */
export async function begin(story: Story, world: World, provider: Provider): Promise<() => void> {
  const { project, service } = world;
  const made = Date.now() - 3_600_000;
  const others = [
    service.add({ url: at("theirs").url, made }),
    service.add({ url: at("created").url, type: "development", made }),
  ];
  project.declare(BEFORE);
  await project.up();
  const staying = await story.prepare(world, provider);
  project.declare(story.declared);
  service.requests.length = 0;
  return () => {
    service.expectExactly(project, story.declared, others);
    const ids = Object.values(project.ids());
    const lost = staying.filter(({ id }) => !ids.includes(id));
    if (lost.length > 0) throw new Error(`registered again: ${lost.map(({ url }) => url)}`);
  };
}

/** Lets the service refuse what registers this url. Such a request does not count. */
function refuse(service: HttpService, url: string): void {
  const dispatch = service.dispatch.bind(service);
  service.dispatch = (process, sent, handler) => {
    if (!String(sent.body).includes(url)) return dispatch(process, sent, handler);
    const controller = {} as Parameters<NonNullable<typeof handler.onResponseEnd>>[0];
    handler.onResponseStart?.(controller, 422, { "content-type": "application/json" }, "");
    handler.onResponseData?.(controller, Buffer.from('{"error":"not this one"}'));
    handler.onResponseEnd?.(controller, {});
  };
}

async function importInto(project: Project, provider: Provider, id: string): Promise<void> {
  const flags = ["--yes", "--skip-preview", "--generate-code=false", "--protect=false"];
  if (provider === "native") {
    await project.succeed("import", NATIVE_TOKEN, "imported", id, ...flags);
    return;
  }
  const properties = { ...at("imported"), __provider: PROVIDER_CODE };
  const entry = { type: TYPE_TOKEN, name: "imported", id, inputs: properties, outputs: properties };
  project.write("import.json", JSON.stringify({ resources: [entry] }));
  await project.succeed("import", "--file", join(project.folder, "import.json"), ...flags);
}

/** Lets another stack register an endpoint, and moves that here. */
async function moveInto({ project, service }: World, provider: Provider): Promise<Registered> {
  await project.succeed("stack", "init", "old", "--copy-config-from", "dev");
  project.declare(allAt(["moved"]));
  await project.up();
  await project.succeed("stack", "select", "dev");
  const urn = `urn:pulumi:old::test::${provider === "native" ? NATIVE_TOKEN : TYPE_TOKEN}::moved`;
  const stacks = ["--source", "organization/test/old", "--dest", "organization/test/dev"];
  await project.succeed("state", "move", "--yes", ...stacks, urn);
  const moved = service.find("moved");
  if (moved === undefined) throw new Error("nothing was registered");
  return moved;
}
