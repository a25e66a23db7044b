import type { Surroundings } from "../../src/cli/run";
import type { Deployment, Resource } from "../../src/provider/facts/exportedState";
import { originOf } from "../../src/provider/state";
import { AFTER_INPUT, TYPE_TOKEN } from "../../src/shared/permanent";
import { API_KEY, fakePulumi } from "./running";

/** The state of a stack, or why it cannot be read. */
export type FakeState = Deployment | string;

export interface Backend {
  readonly baseUrl: string;
  /** The stacks of this project. The first one is selected. */
  readonly own?: Readonly<Record<string, FakeState>>;
  /** Those of other projects, by their full names. */
  readonly others?: Readonly<Record<string, FakeState>>;
  /** The version of the format of the states. Default: 3. */
  readonly format?: number;
  /** What `pulumi stack ls --all` prints besides the list. */
  readonly warning?: string;
  /** More settings, in plain text. */
  readonly config?: Readonly<Record<string, string>>;
  /** Why the settings cannot be read. */
  readonly configError?: string;
  /** Whether the API key is a secret. Default: true. */
  readonly isKeySecret?: boolean;
  /** What `pulumi version` prints. */
  readonly version?: string;
  /** Where a backend of one's own is. Default: Pulumi Cloud. */
  readonly url?: string;
  /** The stacks that Pulumi Cloud is updating. */
  readonly updating?: readonly string[];
  /** Called before a state is printed. */
  readonly onExport?: (stack: string) => unknown;
}

/** Answers as Pulumi's command does in the folder of a program, in a backend with several projects. */
export function backend(options: Backend): Surroundings["runPulumi"] {
  const { baseUrl, own = { dev: {} }, others = {}, format = 3, warning = "", updating = [] } = options;
  const key = { "webhooks:apiKey": API_KEY };
  const { isKeySecret = true, configError: error } = options;
  const config = { "webhooks:baseUrl": baseUrl, ...options.config, ...(isKeySecret ? {} : key) };
  const settings = fakePulumi({ config, secretConfig: isKeySecret ? key : {}, ...(error && { error }) });
  const [selected = ""] = Object.keys(own);
  return async (args) => {
    const failed = (why: string) => ({ exitCode: 255, stdout: "", stderr: `error: ${why}\n` });
    const done = (value: unknown) => ({ exitCode: 0, stdout: JSON.stringify(value), stderr: "" });
    const stack = args.includes("--stack") ? (args.at(-1) ?? "") : selected;
    switch (args.slice(0, 2).join(" ")) {
      case "version":
        return { ...done(null), stdout: `${options.version ?? "v3.255.0"}\n` };
      case "stack ls": {
        // In full: `acme` is the default organization.
        const inFull = (name: string) =>
          name.includes("/") ? name.replace("/", "/shop/") : `acme/shop/${name}`;
        if (args.includes("--fully-qualify-stack-names"))
          return done(Object.keys(own).map((name) => ({ name: inFull(name) })));
        const names = Object.keys(args.includes("--all") ? { ...own, ...others } : own);
        const inCloud = (name: string) => ({ updateInProgress: updating.includes(name) });
        const listed = names.map((name) => ({
          ...{ name, current: name === selected },
          ...(options.url === undefined && inCloud(name)),
        }));
        return { ...done(listed), stderr: args.includes("--all") ? warning : "" };
      }
      case "whoami --json":
        return done({ user: "anna", url: options.url ?? "" });
      case "stack --stack":
        return { ...done(null), stdout: "\tStarted: 3 minutes ago\n\tRequested By: anna\n" };
      case "stack export": {
        await options.onExport?.(stack);
        const { [stack]: state = "no such stack" } = { ...own, ...others };
        if (typeof state !== "string") return done({ version: format, deployment: state });
        return failed(state);
      }
      default:
        return settings(args);
    }
  };
}

interface Recorded {
  readonly id?: string;
  readonly url: string | object;
  readonly type?: "production" | "development";
  /** As `project/stack`. */
  readonly stack?: string;
  readonly outputs?: object;
  readonly inputs?: object;
  readonly more?: object;
}

/** A url that a state encrypts. */
export const SECRET_URL = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "v1:x",
};

/** Returns where and with which key a test's endpoints are registered. */
export function originAt(baseUrl: string) {
  return originOf({ baseUrl, apiKey: API_KEY, providerName: "" });
}

/** An endpoint as a state holds it. */
export function recorded(
  name: string,
  { id = `wh_${name}`, stack = "shop/dev", ...given }: Recorded,
): Resource {
  const { url, type = "development", outputs = {}, inputs = {}, more = {} } = given;
  const [project, stackName] = stack.split("/");
  return {
    urn: `urn:pulumi:${stackName}::${project}::${TYPE_TOKEN}::${name}`,
    type: TYPE_TOKEN,
    id,
    provider: `urn:pulumi:${stackName}::${project}::pulumi:providers:pulumi-nodejs::default::1`,
    inputs: { url, type, ...inputs },
    // Long ago: no list lags so much that a gone one would be asked for again.
    outputs: { url, type, createdAt: "2026-01-01T00:00:00.000Z", ...outputs },
    ...more,
  };
}

/** An operation that a killed run left. @param at when it was sent, in milliseconds since 1970 */
export function interrupted(
  name: string,
  given: Recorded & { readonly at?: number; readonly kind?: string },
) {
  const { at, kind = "creating", inputs } = given;
  const { id, outputs, ...resource } = recorded(name, {
    ...given,
    inputs: { ...inputs, ...(at === undefined ? {} : { [AFTER_INPUT]: at }) },
  });
  return {
    type: kind,
    resource: kind === "creating" ? resource : { ...resource, id: id ?? "", outputs: outputs ?? {} },
  };
}

/** A resource whose registration got no response. @param before the ids that were listed before */
export function pendingResource(
  name: string,
  given: Recorded & { readonly at: number; readonly before?: string[] },
): Resource {
  const pending = { before: given.before ?? [], attemptedAt: given.at, complete: true };
  return recorded(name, { ...given, id: `pending:${name}`, outputs: { pending } });
}
