import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findLanguages, howToGetLanguages } from "../../scripts/setup/languages";
import { Project, type ProjectOptions } from "./project";

const root = join(__dirname, "../..");

/** The built plugin's executable. */
export const plugin = join(root, "dist/pulumi-resource-webhooks.js");

export interface YamlOptions {
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** A project in another language, which finds the native plugin on PATH, as after `npm install -g`. */
export class NativeProject extends Project {
  constructor({ plugins = [plugin], ...options }: ProjectOptions & { plugins?: readonly string[] } = {}) {
    super(options);
    const languages = findLanguages();
    if (languages === undefined) throw new Error(`There are no language hosts: ${howToGetLanguages}.`);
    const folder = join(this.folder, "plugins");
    mkdirSync(folder);
    for (const file of plugins) symlinkSync(file, join(folder, "pulumi-resource-webhooks"));
    this.env.PATH = [folder, languages.path, this.env.PATH].join(delimiter);
    this.yaml({});
  }

  /** Makes these resources the program. JSON is YAML. */
  yaml(resources: object, { outputs = {}, variables = {} }: YamlOptions = {}): void {
    const program = { name: "test", runtime: "yaml", variables, resources, outputs };
    this.write("Pulumi.yaml", JSON.stringify(program));
  }

  /** Makes endpoints with these arguments the program. */
  endpointsInYaml(endpoints: Readonly<Record<string, object>>, options?: YamlOptions): void {
    const resources = Object.entries(endpoints).map(([name, properties]) => [
      name,
      { type: "webhooks:WebhookEndpoint", properties },
    ]);
    this.yaml(Object.fromEntries(resources), options);
  }

  /** Runs a command in the project's folder, with its PATH. */
  run(command: string, args: readonly string[], input?: string): string {
    return execFileSync(command, args, { cwd: this.folder, env: this.env, encoding: "utf8", input });
  }

  /** Generates the SDK of a language, and returns its folder. */
  generateSdk(language: string): string {
    const folder = join(this.folder, "sdk");
    this.run("generateSdk", [language, folder], this.run("pulumi", ["package", "get-schema", plugin]));
    return folder;
  }

  /** Makes the generated SDK for Python what programs find. */
  installPythonSdk(): void {
    const sdk = this.generateSdk("python");
    this.env.PYTHONPATH = join(this.folder, "packages");
    const offline = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"];
    this.run("python3", ["-m", "pip", "install", ...offline, "--target", this.env.PYTHONPATH, sdk]);
  }
}
