import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/client/clock";
import type { Deployment, Operation, Resource } from "../../src/settlement/deployment";
import { TYPE_TOKEN } from "../../src/shared/permanent";
import { createProvider } from "../../src/endpoint/provider";
import type { EndpointInputs, EndpointState } from "../../src/endpoint/types";
import { TinyService } from "../engine/tinyService";

export interface PluginOptions {
  /** The engine's run. Default: one of its own. */
  readonly run?: string;
  /** Default: the world's service. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** The name of the WebhooksProvider. Default: the default provider. */
  readonly provider?: string;
  readonly rootUrn?: string | undefined;
  readonly environment?: NodeJS.ProcessEnv;
  /** Default: the system's. */
  readonly clock?: Clock;
}

interface PastRun {
  readonly kind?: string;
  readonly result: "succeeded" | "failed";
  readonly startTime: string;
  readonly endTime: string;
}

/** The URN of the stack. */
export const rootUrn = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
const hour = 3_600_000;

/** A service, a stack's state that a stand-in for the Pulumi command prints, and a folder for the journals. */
export class WitnessWorld {
  readonly folder = mkdtempSync(join(tmpdir(), "webhooks-witness-"));
  readonly home = join(this.folder, "home");
  readonly warnings: string[] = [];
  resources: Resource[] = [];
  operations: Operation[] = [];
  /** Whether the state holds a creation of this run: otherwise it is that of another stack with the same name. */
  isOurs = true;
  /** The last run first. */
  history: PastRun[] = [];
  /** What the stand-in for `pulumi stack history` does, as a shell command. */
  printHistory = "cat history.json";
  /** When the stack's first run began. */
  created = new Date(Date.now() - hour).toISOString();
  #runs = 0;

  private constructor(readonly service: TinyService) {
    mkdirSync(this.home);
  }

  static async start(): Promise<WitnessWorld> {
    return new WitnessWorld(await TinyService.start());
  }

  /** The verbs of a plugin process. */
  plugin({
    run,
    baseUrl,
    apiKey = "k3y",
    provider = "",
    environment = {},
    clock = systemClock,
    ...rest
  }: PluginOptions = {}) {
    this.#runs += 1;
    this.save();
    const urn = "rootUrn" in rest ? rest.rootUrn : rootUrn;
    const verbs = createProvider({
      engine: {
        run: run ?? `127.0.0.1:${this.#runs}`,
        rootUrn: async () => urn,
        info: () => {},
        warn: (message) => this.warnings.push(message),
      },
      environment: {
        PATH: `${this.folder}:${process.env.PATH}`,
        PULUMI_HOME: this.home,
        PULUMI_BACKEND_URL: "file:///backend",
        ...environment,
      },
      clock,
    });
    const config: Record<string, string> = {
      "webhooks:baseUrl": baseUrl ?? this.service.url,
      "webhooks:apiKey": apiKey,
      "webhooks:timeoutSeconds": "1",
      "webhooks:providerName": provider,
    };
    void verbs.configure({ config: { get: (key: string) => config[key] } as never });
    return verbs;
  }

  /** Writes the state for the stand-in to print. */
  save(): void {
    const root: Resource = { urn: rootUrn, type: "pulumi:pulumi:Stack", created: this.created };
    const resources = [root, ...this.resources];
    // The state holds an operation of the run that is under way, too.
    const underWay: Operation = {
      type: "creating",
      resource: {
        ...resourceOf("under-way", "default"),
        inputs: { url: "https://example.com", type: "production" },
      },
    };
    const deployment: Deployment = {
      resources,
      pending_operations: [...this.operations, ...(this.isOurs ? [underWay] : [])],
    };
    writeFileSync(join(this.folder, "state.json"), JSON.stringify({ version: 3, deployment }));
    writeFileSync(join(this.folder, "history.json"), JSON.stringify(this.history));
    this.#writeCommand();
  }

  /** Records an endpoint in the state. */
  record(name: string, id: string, { provider = "default" }: { provider?: string } = {}): void {
    this.resources.push({ ...resourceOf(name, provider), id });
  }

  /** Records that a run began to register an endpoint and never ended. */
  interrupt(
    name: string,
    inputs: EndpointInputs,
    { provider = "default" }: { provider?: string } = {},
  ): void {
    const resource = { ...resourceOf(name, provider), inputs: { ...inputs } };
    this.operations.push({ type: "creating", resource });
  }

  /** Records a run that ended just now. */
  ended(result: "succeeded" | "failed", { kind = "update", lasted = 60_000 } = {}): void {
    const times = {
      startTime: new Date(Date.now() - lasted).toISOString(),
      endTime: new Date().toISOString(),
    };
    this.history.unshift({ kind, result, ...times });
  }

  /** The text of all journals. */
  journals(): string {
    return this.journalFiles()
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
  }

  journalFiles(): string[] {
    const folder = join(this.home, "webhook-endpoints", "journal");
    return readdirSync(folder).map((name) => join(folder, name));
  }

  async close(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true });
    await this.service.stop();
  }

  #writeCommand(): void {
    const command = join(this.folder, "pulumi");
    const text = `#!/bin/sh\ncd "${this.folder}"\ncase "$2" in\n  export) cat state.json;;\n  history) ${this.printHistory};;\n  *) exit 1;;\nesac\n`;
    writeFileSync(command, text);
    chmodSync(command, 0o755);
  }
}

function resourceOf(name: string, provider: string): Resource {
  return {
    urn: `urn:pulumi:dev::test::${TYPE_TOKEN}::${name}`,
    type: TYPE_TOKEN,
    provider: `urn:pulumi:dev::test::pulumi:providers:pulumi-nodejs::${provider}::0a1b`,
  };
}

/** The state that a plugin wrote. */
export function stateOf(made: { outs?: unknown }): EndpointState {
  return made.outs as EndpointState;
}
