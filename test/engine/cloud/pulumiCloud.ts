import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import type { StateResource } from "../project";
import { CloudStack, Refusal, type Switches } from "./cloudStack";
import { answerAboutStack, answerUpdate, type Request } from "./requests";

const DEFAULTS: Switches = {
  journals: true,
  shows: "so far",
  keepsCancelled: true,
  nulls: false,
  pageSize: 100,
};
/** The real service takes them, and a CLI without a journal then saves no operation. Smaller states than these bytes it sends whole. */
const DELTAS = {
  capability: "delta-checkpoint-uploads-v2",
  version: 2,
  configuration: { checkpointCutoffSizeBytes: 2 ** 20 },
};

/** Somebody who may see the stacks of these organizations, the first of which is the default. */
export interface User {
  readonly name: string;
  readonly token: string;
  readonly organizations: readonly string[];
  /** Stacks of them that this user may not see, in full. */
  readonly hidden?: readonly string[];
}

/**
 * A small Pulumi Cloud for the real CLI: the protocol of its backend, with the states in memory. It knows what the CLI asks for in the
 * tests, and makes a test fail that asks for anything else.
 */
export class PulumiCloud {
  readonly users: User[] = [{ name: "tester", token: "pul-tester", organizations: ["acme", "tester"] }];
  readonly switches: Switches;
  readonly #stacks = new Map<string, CloudStack>();
  readonly #unexpected: string[] = [];
  readonly #server: Server;
  #url = "";

  private constructor(switches: Partial<Switches>) {
    this.switches = { ...DEFAULTS, ...switches };
    this.#server = createServer(async (message, response) => {
      const [status, answer] = await this.#read(message)
        .then((request) => [200, this.#answer(request)] as const)
        .catch((error) => {
          const known = error instanceof Refusal ? error.status : 500;
          if (known === 500) this.#unexpected.push(`${message.method} ${message.url}: ${error}`);
          return [known, { code: known, message: String(error) }] as const;
        });
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  }

  static async start(switches: Partial<Switches> = {}): Promise<PulumiCloud> {
    const cloud = new PulumiCloud(switches);
    await new Promise<void>((resolve) => cloud.#server.listen(0, "127.0.0.1", resolve));
    cloud.#url = `http://127.0.0.1:${(cloud.#server.address() as AddressInfo).port}`;
    return cloud;
  }

  /** @throws Error if it was asked for what it does not know */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    if (this.#unexpected.length > 0) throw new Error(this.#unexpected.join("\n"));
  }

  /** What the CLI needs to use this as its first user. */
  get environment(): Readonly<Record<string, string>> {
    return { PULUMI_BACKEND_URL: this.#url, PULUMI_ACCESS_TOKEN: this.users[0]?.token ?? "" };
  }

  /** All states. */
  get atRest(): string {
    return JSON.stringify([...this.#stacks.values()].map(({ saved }) => saved));
  }

  stateOf(name: string): { readonly resources?: readonly StateResource[] } {
    return { resources: this.stack(name).saved.deployment?.resources ?? [] };
  }

  /** @param name in full: `organization/project/stack` */
  stack(name: string): CloudStack {
    const stack = this.#stacks.get(name);
    if (stack === undefined) throw new Refusal(404, `Not Found: Stack '${name}' not found`);
    return stack;
  }

  /** Makes an empty stack. */
  add(name: string): CloudStack {
    if (this.#stacks.has(name)) throw new Refusal(409, "Conflict: A stack with this name already exists.");
    const stack = new CloudStack(name, this.switches);
    this.#stacks.set(name, stack);
    return stack;
  }

  async #read(message: IncomingMessage): Promise<Request> {
    const { method = "", headers, url = "" } = message;
    const sent = await buffer(message);
    const text = (headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent).toString();
    const { pathname, searchParams: query } = new URL(url, this.#url);
    const [, ...path] = pathname.split("/").filter(Boolean).map(decodeURIComponent);
    return {
      method,
      path,
      query,
      body: text && JSON.parse(text),
      authorization: headers.authorization ?? "",
    };
  }

  #answer(request: Request): unknown {
    const { path, authorization } = request;
    const [noun, ...rest] = path;
    if (path.join("/") === "cli/version") return { latestVersion: "3.255.0", oldestWithoutWarning: "3.0.0" };
    if (path.join("/") === "capabilities")
      return { capabilities: [{ capability: "batch-encrypt", version: 1 }, DELTAS] };
    const user = this.users.find(({ token }) => authorization === `token ${token}`);
    if (noun === "user" && user) return this.#answerUser(user, request);
    const isUpdate = authorization.startsWith("update-token ");
    if (user === undefined && !isUpdate) throw new Refusal(401, "Unauthorized: No credentials");
    if (noun !== "stacks") throw new Error("an unknown request");
    const [organization = "", project, stackName, ...what] = rest;
    const name = rest.slice(0, 3).join("/");
    if (user === undefined) return answerUpdate(this.stack(name), what, request);
    const visible = this.#visible(user);
    if (stackName !== undefined) {
      const isGone = !visible.some((each) => each.fullName === name);
      if (isGone) throw new Refusal(404, `Not Found: Stack '${name}' not found`);
      if (request.method !== "DELETE" || what.length > 0)
        return answerAboutStack(this.stack(name), what, request);
      this.#stacks.delete(name);
      return {};
    }
    if (request.method !== "POST") {
      if (visible.some((each) => each.project === project)) return {};
      throw new Refusal(404, "Not Found");
    }
    if (!user.organizations.includes(organization)) throw new Refusal(404, `Not Found: ${organization}`);
    this.add(`${organization}/${project}/${request.body.stackName}`).tags = request.body.tags ?? {};
    return { messages: [] };
  }

  #answerUser(user: User, { path, query }: Request): unknown {
    const { name, organizations } = user;
    switch (path.slice(1).join("/")) {
      case "":
        return {
          ...{ id: name, githubLogin: name, name, email: `${name}@example.com`, identities: [] },
          organizations: organizations.map((each) => ({ githubLogin: each, name: each })),
        };
      case "organizations/default":
        return { gitHubLogin: organizations[0], messages: [] };
      case "stacks": {
        const project = query.get("project");
        const wanted = this.#visible(user).filter((each) => project === null || each.project === project);
        const from = Number(query.get("continuationToken"));
        const next = from + this.switches.pageSize;
        const continuationToken = next < wanted.length ? String(next) : undefined;
        return { stacks: wanted.slice(from, next).map(({ summary }) => summary), continuationToken };
      }
      default:
        throw new Error("an unknown request of a user");
    }
  }

  #visible({ organizations, hidden = [] }: User): CloudStack[] {
    return [...this.#stacks.values()].filter(
      ({ organization, fullName }) => organizations.includes(organization) && !hidden.includes(fullName),
    );
  }
}
