import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findLanguages, howToGetLanguages } from "../../scripts/setup/languages";
import { Project, type ProjectOptions } from "./project";

/** The built plugin's executable. */
const plugin = join(__dirname, "../../dist/pulumi-resource-webhooks.js");

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
    this.yaml("");
  }

  /** Makes this the program, which is in YAML. */
  yaml(program: string): void {
    this.write("Pulumi.yaml", `name: test\nruntime: yaml\n${program}`);
  }

  /** Generates the SDK of a language, and returns its folder. */
  async generateSdk(language: string): Promise<string> {
    const folder = join(this.folder, "sdk", language);
    await this.shell(`pulumi package get-schema '${plugin}' | generateSdk ${language} '${folder}'`);
    return folder;
  }

  /** Makes the generated SDK for Python what programs find. */
  async installPythonSdk(): Promise<void> {
    const sdk = await this.generateSdk("python");
    this.env.PYTHONPATH = join(this.folder, "packages");
    const offline = "--isolated --quiet --no-deps --no-build-isolation --no-index";
    await this.shell(`python3 -m pip install ${offline} --target '${this.env.PYTHONPATH}' '${sdk}'`);
  }

  /** Runs a line of shell that must succeed, and returns what it printed. Bash would read ~/.bashrc, as its input is a socket. */
  async shell(line: string): Promise<string> {
    const { exitCode, stdout, output } = await this.run("sh", "-c", line);
    if (exitCode !== 0) throw new Error(`${line} ended with ${exitCode}:\n${output}`);
    return stdout;
  }
}
