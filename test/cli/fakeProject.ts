import { CliError } from "../../src/cli/errors";
import { Output } from "../../src/cli/oldOutput";
import { Pulumi, type RunOptions } from "../../src/cli/oldPulumi";
import type { Deployment, Resource } from "../../src/settlement/deployment";
import { TYPE_TOKEN } from "../../src/shared/permanent";
import type { PulumiCommandResult } from "../../src/shared/pulumiCommand";
import type { HistoryEntry } from "./fakePulumi";

export interface FakeProjectOptions {
  readonly config: Readonly<Record<string, string>>;
  /** The states of the project's stacks by name. A string is why a stack cannot be read. */
  readonly stacks?: Record<string, Deployment | string>;
  /** The same for stacks of other projects. */
  readonly others?: Record<string, Deployment | string>;
  /** The same for stacks that the backend does not list. */
  readonly unlisted?: Record<string, Deployment | string>;
  /** Settings that are secrets. */
  readonly secrets?: readonly string[];
  /** The runs of each stack, the last one first. */
  readonly history?: readonly HistoryEntry[];
  /** The stack that is selected. Default: the first. */
  readonly selected?: string;
  /** What every command but `version` prints on standard error, when it fails. "ENOENT" means that the command pulumi is missing. */
  readonly failure?: string;
  /** The same for `pulumi config` alone. */
  readonly configFailure?: string;
  /** The version of the format of the states. Default: 3. */
  readonly version?: number | undefined;
  /** Called before each command. */
  readonly before?: (command: string) => void;
}

/** The state of a stack that no run has written, as some backends print it. */
export const EMPTY: Deployment = {};

/** Answers as Pulumi's command does in a project with several stacks. */
export class FakeProject extends Pulumi {
  constructor(
    readonly options: FakeProjectOptions,
    stack?: string,
  ) {
    super(stack);
  }

  override of(stack: string): FakeProject {
    return new FakeProject(this.options, stack);
  }

  override async run(args: readonly string[], _options?: RunOptions): Promise<PulumiCommandResult> {
    const {
      config,
      secrets = [],
      stacks = {},
      others = {},
      unlisted = {},
      failure,
      configFailure,
      before,
    } = this.options;
    const selected = this.options.selected ?? Object.keys(stacks)[0];
    const answer = (value: unknown) => ({ exitCode: 0, stdout: JSON.stringify(value), stderr: "" });
    const command = args.slice(0, 2).join(" ");
    before?.(command);
    if (failure === "ENOENT") throw new CliError("PULUMI_MISSING", "cannot run the command pulumi");
    if (failure !== undefined && command !== "version") return { exitCode: 1, stdout: "", stderr: failure };
    switch (command) {
      case "version":
        return { exitCode: 0, stdout: "v3.255.0\n", stderr: "" };
      case "config --json":
        if (configFailure !== undefined) return { exitCode: 255, stdout: "", stderr: configFailure };
        return answer(
          Object.fromEntries(
            Object.entries(config).map(([key, value]) => [key, { value, secret: secrets.includes(key) }]),
          ),
        );
      case "stack ls":
        return answer(
          Object.keys(args.includes("--all") ? { ...stacks, ...others } : stacks).map((name) => ({
            name,
            current: name === selected,
          })),
        );
      case "stack export": {
        const name = (this.stack ?? selected ?? "").replace(/^organization\/test\//, "");
        const deployment = { ...stacks, ...others, ...unlisted }[name] ?? `no stack named '${name}' found`;
        if (typeof deployment === "string")
          return { exitCode: 6, stdout: "", stderr: `error: ${deployment}\n` };
        return answer({
          version: "version" in this.options ? this.options.version : 3,
          deployment: deployment === EMPTY ? null : withRoot(deployment, name),
        });
      }
      case "whoami --json":
        return answer({ user: "me", url: "https://user:passw0rd@backend.example.com/?token=passw0rd" });
      case "stack history":
        return answer(this.options.history ?? []);
      default:
        throw new Error(`an unexpected command: pulumi ${args.join(" ")}`);
    }
  }
}

/** Every state that is not empty has its stack. */
function withRoot(deployment: Deployment, stack: string): Deployment {
  const { resources = [], pending_operations = [] } = deployment;
  const isRoot = ({ type }: Resource) => type === "pulumi:pulumi:Stack";
  if (resources.some(isRoot) || resources.length + pending_operations.length === 0) return deployment;
  const root = {
    urn: `urn:pulumi:${stack}::test::pulumi:pulumi:Stack::test-${stack}`,
    type: "pulumi:pulumi:Stack",
    created: new Date(0).toISOString(),
  };
  return { ...deployment, resources: [root, ...resources] };
}

export interface RecordedEndpoint {
  readonly id: string;
  readonly url: string;
  readonly type: string;
  readonly baseUrl?: string;
  readonly stack?: string;
  readonly more?: object;
}

/** An endpoint as a state holds it. */
export function recorded(
  name: string,
  { id, url, type, baseUrl, stack = "dev", more }: RecordedEndpoint,
): Resource {
  const origin = baseUrl === undefined ? {} : { baseUrl, account: "abcdef" };
  return {
    urn: `urn:pulumi:${stack}::test::${TYPE_TOKEN}::${name}`,
    type: TYPE_TOKEN,
    id,
    provider: `urn:pulumi:${stack}::test::pulumi:providers:pulumi-nodejs::default::1`,
    inputs: { url, type },
    outputs: { url, type, ...origin },
    ...more,
  };
}

/** An output whose streams are kept. */
export class KeptOutput extends Output {
  constructor(
    json: boolean,
    readonly kept: { stdout: string; stderr: string } = { stdout: "", stderr: "" },
  ) {
    const sink = (name: "stdout" | "stderr") => ({
      write: (text: string) => {
        kept[name] += text;
      },
    });
    super({ json, stdout: sink("stdout"), stderr: sink("stderr"), environment: {} });
  }
}
